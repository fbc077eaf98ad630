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
  PERCALE_BAD_CHECKPOINT = 6,
  PERCALE_BUSY = 7,         /* another thread is using the handle */
  PERCALE_BUG = 8           /* please report it */
} percale_status;

/* Handles: numbers that are never used twice; 0 is none. */
typedef uint64_t percale_collider;
typedef uint64_t percale_simulation;

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

/* What meets during the straight motion from `start` to `end`, by time. */
percale_status percale_impacts(const double *start, const double *end, size_t vertices, const uint32_t *faces,
                               size_t triangles, percale_impact **impacts, size_t *count);

/* Intersection paths, as a JSON list. */
percale_status percale_paths(const double *positions, size_t vertices, const uint32_t *faces, size_t triangles,
                             char **json);

/* Moves a mesh until nothing crosses, or until nothing helps. `keep` are vertices that may not move, or NULL. `result`
 * takes 3 `vertices` numbers and may be `positions`. `json` may be NULL. */
percale_status percale_untangle(const double *positions, size_t vertices, const uint32_t *faces, size_t triangles,
                                const uint32_t *keep, size_t kept, double *result, char **json);

/* The collision step: keeps topology and tree between calls. `mass` in kg, 0 for vertices that end where they are told,
 * or NULL (by area); `fixed` are further such vertices, or NULL; `thickness` in metres, 0 for 1 % of the mean edge;
 * `response` is NULL for the default, or names such as "impulses,hold". An obstacle has vertices and faces of its own,
 * numbered from 0; NULL if there is none. */
percale_status percale_collider_new(size_t vertices, const uint32_t *faces, size_t triangles, const double *mass,
                                    const uint32_t *fixed, size_t fixed_count, size_t obstacle_vertices,
                                    const uint32_t *obstacle_faces, size_t obstacle_triangles, double thickness,
                                    double friction, const char *response, percale_collider *made);
percale_status percale_collider_free(percale_collider collider);

/* Changes `end` until the motion from `start` to it in `dt` seconds meets nothing, and certifies the result.
 * `result` takes 3 `vertices` numbers and may be `end`; `velocities` (m/s) and `json` may be NULL. `obstacle_start` and
 * `obstacle_end` are NULL if there is none. */
percale_status percale_collider_resolve(percale_collider collider, const double *start, const double *end,
                                        const double *obstacle_start, const double *obstacle_end, double dt,
                                        double *result, double *velocities, char **json);

/* A scene: a built-in name or a file; or its text in TOML, with paths relative to `base`. */
percale_status percale_simulation_load(const char *name, percale_simulation *made);
percale_status percale_simulation_from_text(const char *toml, const char *base, percale_simulation *made);
percale_status percale_simulation_free(percale_simulation simulation);
percale_status percale_simulation_counts(percale_simulation simulation, size_t *vertices, size_t *triangles,
                                         uint64_t *frame);
percale_status percale_simulation_faces(percale_simulation simulation, uint32_t *faces);
percale_status percale_simulation_positions(percale_simulation simulation, double *positions);
/* One output frame; `json` (its report) may be NULL. */
percale_status percale_simulation_step(percale_simulation simulation, char **json);
percale_status percale_simulation_checkpoint(percale_simulation simulation, uint8_t **bytes, size_t *count);
percale_status percale_simulation_restore(percale_simulation simulation, const uint8_t *bytes, size_t count);

/* Runs a scene into a new result folder, as `percale run` does; `frames` 0 means the scene's own number. `json` (the
 * totals) may be NULL. */
percale_status percale_run(const char *scene, const char *folder, uint64_t frames, char **json);

#ifdef __cplusplus
}
#endif
#endif
