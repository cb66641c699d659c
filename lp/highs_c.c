//go:build cgo && highs

#include "highs_c.h"

#include <stdatomic.h>
#include <stdlib.h>

#if defined(__has_include) && !__has_include("interfaces/highs_c_api.h")
#error "package lp with -tags highs needs the HiGHS library, at least 1.7: install libhighs-dev (Debian 13) or run `brew install highs`; or run `eval \"$(scripts/highs env)\"`, which finds or builds it; or build without -tags highs"
#else // all the rest, so that this is the only message
#include "interfaces/highs_c_api.h"

#if HIGHS_VERSION_MAJOR < 1 || (HIGHS_VERSION_MAJOR == 1 && HIGHS_VERSION_MINOR < 7)
#error "package lp needs HiGHS 1.7 or newer: run `eval \"$(scripts/highs env)\"`, which builds one, or build without -tags highs"
#endif
#ifdef HIGHSINT64
#error "package lp needs HiGHS with 32-bit indices (HIGHSINT64 off): run `eval \"$(scripts/highs env)\"`, which builds one, or build without -tags highs"
#endif

struct darrm_highs {
  void* highs;
  atomic_int interrupt;
};

// Called by HiGHS in each simplex or interior-point iteration, on the thread of run. It lives in C:
// a call into Go per iteration would cost more than small iterations do.
static void on_callback(int type, const char* message,
                        const HighsCallbackDataOut* out,
                        HighsCallbackDataIn* in, void* data) {
  (void)type;
  (void)message;
  (void)out;
  struct darrm_highs* m = data;
  in->user_interrupt = atomic_load(&m->interrupt);
}

const char* darrm_highs_version(void) { return Highs_version(); }

int darrm_highs_matches_header(void) {
  return Highs_versionMajor() == HIGHS_VERSION_MAJOR &&
         Highs_versionMinor() == HIGHS_VERSION_MINOR;
}

darrm_highs* darrm_highs_create(void) {
  darrm_highs* m = calloc(1, sizeof *m);
  if (m == NULL) return NULL;
  m->highs = Highs_create();
  if (m->highs == NULL) {
    free(m);
    return NULL;
  }
  if (Highs_getSizeofHighsInt(m->highs) != sizeof(int32_t) ||
      Highs_setCallback(m->highs, on_callback, m) != kHighsStatusOk ||
      Highs_startCallback(m->highs, kHighsCallbackSimplexInterrupt) !=
          kHighsStatusOk ||
      Highs_startCallback(m->highs, kHighsCallbackIpmInterrupt) !=
          kHighsStatusOk) {
    darrm_highs_destroy(m);
    return NULL;
  }
  return m;
}

void darrm_highs_destroy(darrm_highs* m) {
  Highs_destroy(m->highs);
  free(m);
}

int darrm_highs_set(darrm_highs* m, const char* option, const char* value) {
  return Highs_setStringOptionValue(m->highs, option, value) != kHighsStatusOk;
}

int darrm_highs_add_columns(darrm_highs* m, int32_t n, const double* cost,
                            const double* lower, const double* upper) {
  return Highs_addCols(m->highs, n, cost, lower, upper, 0, NULL, NULL, NULL) !=
         kHighsStatusOk;
}

int darrm_highs_add_rows(darrm_highs* m, int32_t rows, const double* lower,
                         const double* upper, int32_t nonzeros,
                         const int32_t* starts, const int32_t* index,
                         const double* value) {
  return Highs_addRows(m->highs, rows, lower, upper, nonzeros, starts, index,
                       value) != kHighsStatusOk;
}

int darrm_highs_delete_rows(darrm_highs* m, int32_t count, const int32_t* set) {
  return Highs_deleteRowsBySet(m->highs, count, set) != kHighsStatusOk;
}

int darrm_highs_clear_solver(darrm_highs* m) {
  return Highs_clearSolver(m->highs) != kHighsStatusOk;
}

static int status_of(HighsInt s) {
  if (s == kHighsModelStatusOptimal) return DARRM_OPTIMAL;
  if (s == kHighsModelStatusInfeasible) return DARRM_INFEASIBLE;
  if (s == kHighsModelStatusUnbounded) return DARRM_UNBOUNDED;
  if (s == kHighsModelStatusTimeLimit) return DARRM_TIME_LIMIT;
  if (s == kHighsModelStatusIterationLimit) return DARRM_ITERATION_LIMIT;
  if (s == kHighsModelStatusInterrupt) return DARRM_INTERRUPTED;
  return DARRM_UNKNOWN;
}

int darrm_highs_run(darrm_highs* m, int* status, int* raw,
                    int64_t* iterations) {
  HighsInt run = Highs_run(m->highs);
  HighsInt model = Highs_getModelStatus(m->highs);
  HighsInt count = 0;
  *status = status_of(model);
  *raw = (int)model;
  // No count is known where the run found nothing to iterate on.
  if (Highs_getIntInfoValue(m->highs, "simplex_iteration_count", &count) !=
      kHighsStatusOk)
    count = 0;
  *iterations = count > 0 ? count : 0;
  return run != kHighsStatusOk;
}

int darrm_highs_get_solution(darrm_highs* m, double* column_value,
                             double* column_dual, double* row_value,
                             double* row_dual) {
  return Highs_getSolution(m->highs, column_value, column_dual, row_value,
                           row_dual) != kHighsStatusOk;
}

int darrm_highs_has_solution(darrm_highs* m) {
  HighsInt primal = 0, dual = 0;
  // 0 is "no solution", 1 "infeasible point", 2 "feasible point".
  return Highs_getIntInfoValue(m->highs, "primal_solution_status", &primal) !=
             kHighsStatusOk ||
         Highs_getIntInfoValue(m->highs, "dual_solution_status", &dual) !=
             kHighsStatusOk ||
         primal == 0 || dual == 0;
}

void darrm_highs_interrupt(darrm_highs* m, int on) {
  atomic_store(&m->interrupt, on);
}

#endif
