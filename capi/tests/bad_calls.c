/* Ten thousand random calls, most of them wrong in a way that C can tell: null pointers, numbers out of range, NaN, counts that cannot
 * be, handles that were freed or never made. Each returns a status, and what is refused has a text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "percale.h"

enum { CALLS = 10000, N = 6, M = 2 };

static uint64_t state = 23;

static uint32_t dice(uint32_t sides) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % sides;
}

static double number(void) {
  static const double odd[] = {NAN, INFINITY, -INFINITY, 1e308, -1e40, 1e-80, 0, -1};
  return dice(40) == 0 ? odd[dice(8)] : dice(1000) / 500.0 - 1;
}

static const double *positions(double *x) {
  static const double flat[] = {0, 0, 0, 1, 0, 0, 0, 0, 1, 0.2, 0.1, 0.2, 0.6, 0.1, 0.2, 0.2, 0.1, 0.6};
  if (dice(12) == 0) return NULL;
  for (int k = 0; k < 3 * N; k++) x[k] = dice(3) == 0 ? number() : flat[k] + 1e-3 * number();
  return dice(2) ? flat : x;
}

static const uint32_t *triangles(uint32_t *f) {
  static const uint32_t good[] = {0, 1, 2, 3, 4, 5};
  if (dice(12) == 0) return NULL;
  for (int k = 0; k < 3 * M; k++) f[k] = dice(8) ? good[k] : dice(10) ? dice(9) : UINT32_MAX - dice(2);
  return dice(2) ? good : f;
}

static size_t count(size_t right) { return dice(10) ? right : dice(2) ? 0 : (size_t)-1 - dice(3); }

int main(void) {
  percale_collider colliders[8] = {0};
  percale_simulation simulations[4] = {0};
  int answered = 0, refused = 0;
  for (int call = 0; call < CALLS; call++) {
    double a[3 * N] = {0}, b[3 * N] = {0}, out[3 * N], v[3 * N];
    uint32_t f[3 * M], *pairs = NULL;
    const uint32_t fixed[] = {dice(8), dice(8)};
    percale_evidence evidence = {0};
    evidence.keep = dice(2) ? fixed : NULL, evidence.keep_count = dice(2) ? 2 : 0;
    evidence.body = dice(3) ? NULL : b, evidence.body_vertices = dice(3) ? 0 : count(N);
    evidence.body_faces = dice(3) ? NULL : f, evidence.body_triangles = dice(3) ? 0 : count(M);
    evidence.thickness = dice(2) ? 0 : number(), evidence.max_steps = dice(5);
    percale_impact *impacts = NULL;
    char *json = NULL;
    uint8_t *bytes = NULL;
    size_t found = 0, other = 0;
    int crosses;
    uint64_t frame;
    percale_collider *collider = &colliders[dice(8)];
    percale_simulation *simulation = &simulations[dice(4)];
    const uint64_t any = dice(4) ? 0 : ((uint64_t)dice(1u << 31) << dice(33));
    const double *x0 = positions(a), *x1 = positions(b);
    const uint32_t *faces = triangles(f);
    percale_status status;
    switch (dice(16)) {
      case 0: status = percale_intersections(x0, count(N), faces, count(M), dice(9) ? &pairs : NULL, &found); break;
      case 1: status = percale_impacts(x0, x1, count(N), faces, count(M), &impacts, dice(9) ? &found : NULL); break;
      case 2: status = percale_paths(x0, count(N), faces, count(M), dice(4) ? NULL : x1, dice(9) ? &json : NULL); break;
      case 3: status = percale_untangle(x0, count(N), faces, count(M), dice(2) ? &evidence : NULL, dice(9) ? out : NULL, NULL, &json); break;
      case 4: {
        static const char *const stages[] = {NULL, "impulses", "impulses,hold", "", "hope", "impulses{max_rounds=-1}", "\xff\xfe"};
        percale_collider made = 0; /* the older one is not freed: its number stays good */
        status = percale_collider_new(count(N), faces, count(M), dice(2) ? NULL : x0, dice(2) ? fixed : NULL, dice(2) ? 2 : 0, 0, NULL, 0,
                                      dice(2) ? 0 : number(), dice(2) ? 0.3 : number(), dice(3) ? NULL : x1, stages[dice(7)], dice(9) ? &made : NULL);
        if (made) *collider = made;
        break;
      }
      case 5: status = percale_collider_resolve(dice(9) ? *collider : any, x0, x1, dice(9) ? NULL : x0, NULL, dice(3) ? 0.01 : number(), dice(9) ? out : NULL, v, &json); break;
      case 6: status = percale_collider_free(dice(3) ? any : *collider); break; /* the number is kept, and used again */
      case 7: {
        static const char *const texts[] = {
            "frames = 2\n[[cloth]]\nname = \"a\"\nshape = { kind = \"sheet\", size = [1, 1], cells = [2, 2] }\n", "frames = -1", "", "\xff", NULL};
        status = percale_simulation_from_text(texts[dice(5)], dice(5) ? "." : NULL, dice(9) ? simulation : NULL);
        break;
      }
      case 8: status = percale_simulation_step(dice(5) ? *simulation : any, &json); break;
      case 9: status = percale_simulation_counts(dice(5) ? *simulation : any, &found, &other, dice(9) ? &frame : NULL); break;
      case 10:
        status = percale_simulation_checkpoint(dice(5) ? *simulation : any, &bytes, &found);
        if (status == PERCALE_OK) {
          if (dice(2)) bytes[dice((uint32_t)found)] ^= (uint8_t)(1 + dice(255));
          status = percale_simulation_restore(simulations[dice(4)], bytes, dice(4) ? found : dice((uint32_t)found));
        }
        break;
      case 11: status = percale_collider_impacts(dice(9) ? *collider : any, x0, x1, dice(9) ? NULL : x0, NULL, &impacts, dice(9) ? &found : NULL); break;
      case 12: status = percale_check(x0, count(N), faces, count(M), dice(9) ? &json : NULL); break;
      case 13: status = percale_has_intersections(x0, count(N), faces, count(M), dice(9) ? &crosses : NULL); break;
      case 14: status = percale_collider_has_intersections(dice(9) ? *collider : any, x0, dice(9) ? NULL : x1, dice(9) ? &crosses : NULL); break;
      default: status = dice(2) ? percale_simulation_free(dice(2) ? any : *simulation) : percale_simulation_load(dice(2) ? "no-such-scene" : NULL, simulation);
    }
    if (status == PERCALE_BUG || (status == PERCALE_OK) != (percale_error()[0] == 0)) {
      fprintf(stderr, "call %d: status %d, '%s'\n", call, (int)status, percale_error());
      return 1;
    }
    *(status == PERCALE_OK ? &answered : &refused) += 1;
    percale_free(pairs);
    percale_free(impacts);
    percale_free(json);
    percale_free(bytes);
  }
  printf("%d %d\n", answered, refused);
  return 0;
}
