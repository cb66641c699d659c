//go:build cgo && highs

// The narrow part of HiGHS that package lp calls, without its header: that one
// defines constants with external linkage, so only highs_c.c includes it.

#ifndef DARRM_HIGHS_C_H
#define DARRM_HIGHS_C_H

#include <stdint.h>

// What a run ended in, in our own numbers.
enum {
  DARRM_UNKNOWN,
  DARRM_OPTIMAL,
  DARRM_INFEASIBLE,
  DARRM_UNBOUNDED,
  DARRM_TIME_LIMIT,
  DARRM_ITERATION_LIMIT,
  DARRM_INTERRUPTED,
};

typedef struct darrm_highs darrm_highs;

// Functions that return int return 0 when HiGHS said all is well; a warning
// counts as failure.
const char* darrm_highs_version(void);
int darrm_highs_matches_header(void);  // 1 if the library is the header's
darrm_highs* darrm_highs_create(void);  // NULL on failure
void darrm_highs_destroy(darrm_highs* m);
int darrm_highs_set(darrm_highs* m, const char* option, const char* value);
int darrm_highs_add_columns(darrm_highs* m, int32_t n, const double* cost,
                            const double* lower, const double* upper);
int darrm_highs_add_rows(darrm_highs* m, int32_t rows, const double* lower,
                         const double* upper, int32_t nonzeros,
                         const int32_t* starts, const int32_t* index,
                         const double* value);
int darrm_highs_delete_rows(darrm_highs* m, int32_t count, const int32_t* set);
int darrm_highs_clear_solver(darrm_highs* m);
// Runs; *status is one of the numbers above, *raw HiGHS's own.
int darrm_highs_run(darrm_highs* m, int* status, int* raw, int64_t* iterations);
int darrm_highs_get_solution(darrm_highs* m, double* column_value,
                             double* column_dual, double* row_value,
                             double* row_dual);
// The solution that the last run left, optimal or not: 0 if there is one.
int darrm_highs_has_solution(darrm_highs* m);
// Interrupt may be called from any thread while another one is in run.
void darrm_highs_interrupt(darrm_highs* m, int on);

#endif
