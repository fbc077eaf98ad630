/* A cloth of two triangles falls on another one and does not go through; then a scene, and what is refused.
 *
 *   cc -Iinclude examples/falling.c -L../target/release -lpercale_c -lm -o falling && LD_LIBRARY_PATH=../target/release ./falling
 *
 * With two arguments, SCENE and FOLDER, it runs the scene into the folder for three frames, and prints the report. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "percale.h"

static void need(int is_so, const char *what) {
  if (!is_so) {
    fprintf(stderr, "wrong: %s (%s)\n", what, percale_error());
    exit(1);
  }
}

static void falls(void) {
  double x[] = {0, 0, 0, 1, 0, 0, 0, 0, 1, 0.2, 0.1, 0.2, 1.2, 0.1, 0.2, 0.2, 0.1, 1.2};
  const uint32_t faces[] = {0, 1, 2, 3, 4, 5}, fixed[] = {0, 1, 2};
  double end[18], v[18];
  percale_collider collider;
  need(percale_collider_new(6, faces, 2, NULL, fixed, 3, 0, NULL, 0, 0, 0.3, NULL, NULL, &collider) == PERCALE_OK, "new");
  for (int step = 0; step < 10; step++) {
    memcpy(end, x, sizeof x);
    for (int k = 3; k < 6; k++) end[3 * k + 1] -= 0.03;
    need(percale_collider_resolve(collider, x, end, NULL, NULL, 0.01, x, v, NULL) == PERCALE_OK, "resolve");
  }
  need(x[10] > 0 && isfinite(v[10]), "the upper triangle lies on the lower one");
  uint32_t *pairs;
  size_t count;
  need(percale_intersections(x, 6, faces, 2, &pairs, &count) == PERCALE_OK && count == 0, "nothing crosses");
  percale_free(pairs);
  percale_free(pairs); /* nothing happens */
  int found;
  need(percale_has_intersections(x, 6, faces, 2, &found) == PERCALE_OK && !found, "nothing at all");
  need(percale_collider_has_intersections(collider, x, NULL, &found) == PERCALE_OK && !found, "nor for the collider");
  percale_impact *impacts;
  end[10] = -1;
  need(percale_impacts(x, end, 6, faces, 2, &impacts, &count) == PERCALE_OK && count > 0, "it would meet");
  need(impacts[0].time >= 0 && impacts[0].time <= 1, "a time");
  percale_free(impacts);
  need(percale_collider_impacts(collider, x, end, NULL, NULL, &impacts, &count) == PERCALE_OK && count > 0, "so says it");
  percale_free(impacts);
  end[13] = end[16] = 1; /* so that it goes through the middle of the lower one */
  need(percale_has_intersections(end, 6, faces, 2, &found) == PERCALE_OK && found, "and it crosses at the end");
  need(percale_collider_has_intersections(collider, end, NULL, &found) == PERCALE_OK && found, "also for the collider");
  need(percale_has_intersections(end, 6, faces, 2, NULL) == PERCALE_BAD_ARGUMENT, "nowhere to say so");
  need(percale_collider_intersections(collider, x, NULL, &pairs, &count) == PERCALE_OK && count == 0, "and this");
  percale_free(pairs);
  need(percale_collider_resolve(collider, x, x, x, x, 0.01, x, NULL, NULL) == PERCALE_BAD_ARGUMENT, "no obstacle is there");

  end[4] = NAN;
  need(percale_collider_resolve(collider, x, end, NULL, NULL, 0.01, x, v, NULL) == PERCALE_BAD_MESH, "NaN is refused");
  need(strstr(percale_error(), "end: vertex 1") != NULL, "by name");
  need(percale_collider_free(collider) == PERCALE_OK, "free");
  need(percale_collider_free(collider) == PERCALE_BAD_ARGUMENT, "freed twice");
  need(percale_collider_resolve(collider, x, x, NULL, NULL, 0.01, x, v, NULL) == PERCALE_BAD_ARGUMENT, "freed, used");
  const uint32_t bad[] = {0, 1, 99};
  need(percale_intersections(x, 6, bad, 1, &pairs, &count) == PERCALE_BAD_MESH, "a face that names nobody");
  need(percale_intersections(NULL, 6, faces, 2, &pairs, &count) == PERCALE_BAD_ARGUMENT, "NULL");
  need(percale_intersections(x, (size_t)-1, faces, 2, &pairs, &count) == PERCALE_BAD_ARGUMENT, "too many");
}

static void untangles(void) {
  double x[] = {0, 0, 0, 1, 0, 0, 0, 0, 1, 0.2, 1, 0.2, 0.3, 1, 0.2, 0.2, -0.1, 0.2};
  const uint32_t faces[] = {0, 1, 2, 3, 4, 5};
  char *json;
  need(percale_paths(x, 6, faces, 2, NULL, &json) == PERCALE_OK && strstr(json, "\"type\"") != NULL, "paths");
  percale_free(json);
  need(percale_check(x, 6, faces, 2, &json) == PERCALE_OK && strstr(json, "\"edge_face\":2") != NULL, "check");
  percale_free(json);
  const uint32_t lower[] = {0, 1, 2};
  percale_evidence evidence = {0};
  evidence.keep = lower, evidence.keep_count = 3;
  int32_t certified = 0;
  need(percale_untangle(x, 6, faces, 2, &evidence, x, &certified, &json) == PERCALE_OK && certified == 1, "untangle");
  need(x[1] == 0 && x[4] == 0, "what is kept");
  need(strstr(json, "\"intersections_after\":0") != NULL, "nothing is left");
  percale_free(json);
}

static void steps(void) {
  const char *toml =
      "frames = 9\n[[cloth]]\nname = \"a\"\nshape = { kind = \"sheet\", size = [1, 1], cells = [4, 4] }\n";
  percale_simulation simulation, other;
  need(percale_simulation_from_text(toml, ".", &simulation) == PERCALE_OK, "a scene");
  need(percale_simulation_load("no-such-scene", &other) == PERCALE_BAD_SCENE, "no scene");
  size_t vertices, triangles, count;
  uint64_t frame;
  uint8_t *checkpoint;
  need(percale_simulation_step(simulation, NULL) == PERCALE_OK, "step");
  need(percale_simulation_checkpoint(simulation, &checkpoint, &count) == PERCALE_OK, "checkpoint");
  need(percale_simulation_counts(simulation, &vertices, &triangles, &frame) == PERCALE_OK && frame == 1, "counts");
  double *once = malloc(24 * vertices), *again = malloc(24 * vertices);
  need(percale_simulation_step(simulation, NULL) == PERCALE_OK, "step");
  need(percale_simulation_positions(simulation, once) == PERCALE_OK, "positions");
  need(percale_simulation_restore(simulation, checkpoint, count) == PERCALE_OK, "restore");
  need(percale_simulation_step(simulation, NULL) == PERCALE_OK, "step");
  need(percale_simulation_positions(simulation, again) == PERCALE_OK, "positions");
  need(memcmp(once, again, 24 * vertices) == 0, "to the bit");
  checkpoint[count / 2] ^= 1;
  need(percale_simulation_restore(simulation, checkpoint, count) == PERCALE_BAD_RESULT, "damaged");
  percale_free(checkpoint);
  free(once);
  free(again);
  need(percale_simulation_free(simulation) == PERCALE_OK, "free");
}

static void runs(const char *scene, const char *folder) {
  char *json;
  need(percale_run(scene, folder, 2, PERCALE_REFUSE, NULL) == PERCALE_OK, "run");
  need(percale_run(scene, folder, 3, PERCALE_REFUSE, NULL) == PERCALE_BAD_ARGUMENT, "there is a result");
  need(strstr(percale_error(), "PERCALE_RE") != NULL, "and what to do");
  need(percale_run(scene, folder, 3, PERCALE_RESUME, &json) == PERCALE_OK, "continued");
  puts(json);
  percale_free(json);
  percale_recording recording;
  size_t vertices, triangles;
  uint64_t frames;
  need(percale_recording_open("no/such/folder", &recording) == PERCALE_BAD_RESULT, "no folder");
  need(percale_recording_open(folder, &recording) == PERCALE_OK, "open");
  need(percale_recording_counts(recording, &vertices, &triangles, &frames) == PERCALE_OK && frames == 4, "counts");
  double *x = malloc(24 * vertices);
  need(percale_recording_positions(recording, 4, x) == PERCALE_BAD_ARGUMENT, "no such frame");
  need(percale_recording_positions(recording, 3, x) == PERCALE_OK && isfinite(x[1]), "positions");
  need(percale_recording_report(recording, &json) == PERCALE_OK && strstr(json, "\"hash\"") != NULL, "report");
  percale_free(json);
  free(x);
  need(percale_recording_free(recording) == PERCALE_OK, "free");
}

int main(int count, char **arguments) {
  if (count == 3) {
    runs(arguments[1], arguments[2]);
    return 0;
  }
  falls();
  untangles();
  steps();
  printf("percale %s: all is well\n", percale_version());
  return 0;
}
