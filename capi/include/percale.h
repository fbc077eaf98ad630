/* Percale for C: cloth that does not go through itself or anything else, with proof.
 *
 * Positions are 3 n doubles (x y z of each vertex, metres), faces 3 m uint32_t, numbered from 0. SI units, Y up.
 *
 * Every call returns a percale_status. Whatever is not PERCALE_OK has left its outputs as they were, and
 * percale_error() says why, to the calling thread, until its next call. A null pointer or a handle that was freed is
 * PERCALE_BAD_ARGUMENT. No call ends the program. A handle may be used by one thread at a time; others get
 * PERCALE_BUSY. Texts are UTF-8.
 *
 * Lists and texts that a call makes belong to the caller: free them with percale_free.
 */
#ifndef PERCALE_H
#define PERCALE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum percale_status {
  PERCALE_OK = 0,
  PERCALE_BAD_ARGUMENT = 1, /* a value that is unusable; the message names it */
  PERCALE_BAD_MESH = 2,     /* faces or positions that are unusable */
  PERCALE_BAD_SCENE = 3,    /* a scene that cannot be read */
  PERCALE_TANGLED = 4,      /* a start that crosses itself, or cannot be certified */
  PERCALE_NO_WAY = 5,       /* no stage found a way; nothing was changed */
  PERCALE_BAD_RESULT = 6,   /* a result folder or a checkpoint that cannot be used */
  PERCALE_BUSY = 7,         /* another thread is using the handle */
  PERCALE_BUG = 8           /* please report it */
} percale_status;

/* Handles: numbers that are never used twice; 0 is none. */
typedef uint64_t percale_collider;
typedef uint64_t percale_simulation;
typedef uint64_t percale_recording;

/* What becomes of an earlier result in a folder: there may be none, it is continued if there is one, it is replaced. */
typedef enum percale_earlier { PERCALE_REFUSE = 0, PERCALE_RESUME = 1, PERCALE_REPLACE = 2 } percale_earlier;

typedef struct percale_impact {
  uint32_t vertices[4]; /* vertex, then the face's three; or two of one edge, two of the other */
  double time;          /* from 0 to 1, never too late */
  double weights[4];    /* signed */
  double normal[3];
  int32_t is_vertex_face;
  int32_t is_certain;
} percale_impact;

/* Version, and why the last call of this thread was refused ("" if it was not). */
const char *percale_version(void);
const char *percale_error(void);

/* Frees a list or a text that a call has made; NULL is nothing. */
void percale_free(void *made);

/* Pairs of faces that cross: 2 `count` numbers. */
percale_status percale_intersections(const double *positions, size_t vertices, const uint32_t *faces, size_t triangles,
                                     uint32_t **pairs, size_t *count);

/* Whether any faces cross, 1 or 0; stops at what it meets first. */
percale_status percale_has_intersections(const double *positions, size_t vertices, const uint32_t *faces,
                                         size_t triangles, int *found);

/* What meets during the straight motion from `start` to `end`, by time. */
percale_status percale_impacts(const double *start, const double *end, size_t vertices, const uint32_t *faces,
                               size_t triangles, percale_impact **impacts, size_t *count);

/* What crosses, counted, as JSON: `intersections` (pairs of faces), `edge_face`, `by_body` (connected components). */
percale_status percale_check(const double *positions, size_t vertices, const uint32_t *faces, size_t triangles,
                             char **json);

/* Intersection paths, as a JSON list. `uv` are places of the corners of each face in the pattern, in metres: six numbers
 * for each face, or NULL. */
percale_status percale_paths(const double *positions, size_t vertices, const uint32_t *faces, size_t triangles,
                             const double *uv, char **json);

/* What is known of a mesh to cure; all of it may be 0. */
typedef struct percale_evidence {
  const double *uv;      /* as of percale_paths */
  const uint32_t *keep;  /* vertices that may not move */
  size_t keep_count;
  const int32_t *layers; /* one number for each vertex: the higher lies outside */
  const double *rest;    /* three numbers for each vertex: the same mesh before it was tangled, whose lengths edges get back */
  const double *body;    /* positions of something that the cloth must be outside of, and its faces, numbered from 0 */
  size_t body_vertices;
  const uint32_t *body_faces;
  size_t body_triangles;
  double thickness;      /* metres: layers that crossed are parted so far */
  uint32_t max_steps;    /* 0: the default */
} percale_evidence;

/* Moves a mesh until nothing crosses, or until nothing helps. `evidence` may be NULL. `result` takes 3 `vertices` numbers
 * and may be `positions`. `certified` becomes 1 if nothing crosses now, else 0; `certified` and `json` may be NULL. */
percale_status percale_untangle(const double *positions, size_t vertices, const uint32_t *faces, size_t triangles,
                                const percale_evidence *evidence, double *result, int32_t *certified, char **json);

/* The collision step: keeps topology and tree between calls. `mass` in kg, 0 for vertices that end where they are told,
 * or NULL (by area); `fixed` are further such vertices, or NULL; `thickness` in metres, 0 for 1 % of the mean edge;
 * `rest` are positions at rest, or NULL; `response` is NULL for the default, or names such as "impulses,hold". An obstacle
 * has vertices and faces of its own, numbered from 0; 0 and NULL if there is none. */
percale_status percale_collider_new(size_t vertices, const uint32_t *faces, size_t triangles, const double *mass,
                                    const uint32_t *fixed, size_t fixed_count, size_t obstacle_vertices,
                                    const uint32_t *obstacle_faces, size_t obstacle_triangles, double thickness,
                                    double friction, const double *rest, const char *response,
                                    percale_collider *made);
percale_status percale_collider_free(percale_collider collider);

/* Changes `end` until the motion from `start` to it in `dt` seconds meets nothing, and certifies the result.
 * `result` takes 3 `vertices` numbers and may be `start` or `end`; `velocities` (m/s) and `json` may be NULL. `obstacle_start` and
 * `obstacle_end` are NULL if there is none. */
percale_status percale_collider_resolve(percale_collider collider, const double *start, const double *end,
                                        const double *obstacle_start, const double *obstacle_end, double dt,
                                        double *result, double *velocities, char **json);

/* As percale_intersections, percale_has_intersections and percale_impacts, with what the collider keeps. Faces of the obstacle are numbered after the
 * cloth's, and do not count among themselves. */
percale_status percale_collider_intersections(percale_collider collider, const double *positions,
                                              const double *obstacle, uint32_t **pairs, size_t *count);
percale_status percale_collider_has_intersections(percale_collider collider, const double *positions,
                                                  const double *obstacle, int *found);
percale_status percale_collider_impacts(percale_collider collider, const double *start, const double *end,
                                        const double *obstacle_start, const double *obstacle_end,
                                        percale_impact **impacts, size_t *count);

/* A scene: a built-in name or a file; or its text in TOML, with paths relative to `base`. */
percale_status percale_simulation_load(const char *name, percale_simulation *made);
percale_status percale_simulation_from_text(const char *toml, const char *base, percale_simulation *made);
percale_status percale_simulation_free(percale_simulation simulation);
percale_status percale_simulation_counts(percale_simulation simulation, size_t *vertices, size_t *triangles,
                                         uint64_t *frame);
percale_status percale_simulation_faces(percale_simulation simulation, uint32_t *faces);
percale_status percale_simulation_positions(percale_simulation simulation, double *positions);
percale_status percale_simulation_velocities(percale_simulation simulation, double *velocities);
/* One output frame; `json` (its report) may be NULL. */
percale_status percale_simulation_step(percale_simulation simulation, char **json);
percale_status percale_simulation_checkpoint(percale_simulation simulation, uint8_t **bytes, size_t *count);
percale_status percale_simulation_restore(percale_simulation simulation, const uint8_t *bytes, size_t count);

/* Runs a scene into a result folder, as `percale run` does, up to a frame; `frames` 0 means the scene's own number. `json`
 * (the totals) may be NULL. */
percale_status percale_run(const char *scene, const char *folder, uint64_t frames, percale_earlier earlier, char **json);

/* A result folder that is read; everything is compared with its checksum. `frames` counts the start, which is frame 0. */
percale_status percale_recording_open(const char *folder, percale_recording *made);
percale_status percale_recording_free(percale_recording recording);
percale_status percale_recording_counts(percale_recording recording, size_t *vertices, size_t *triangles,
                                        uint64_t *frames);
percale_status percale_recording_faces(percale_recording recording, uint32_t *faces);
percale_status percale_recording_positions(percale_recording recording, uint64_t frame, double *positions);
/* `totals` (null while the run goes on) and `frame_reports`. */
percale_status percale_recording_report(percale_recording recording, char **json);

#ifdef __cplusplus
}
#endif
#endif
