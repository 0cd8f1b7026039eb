/* SPDX-License-Identifier: MIT
 *
 * What ipopt.c uses of Ipopt's interface for C (3.11 or later), declared as in its documentation
 * and found when it is used (base/library.h). Since 3.14 Bool is the type bool: results of 0 and 1
 * are the same for both. CST_IPOPT_HEADER: the types come from IpStdCInterface.h, with which
 * tests/test_library.c compares the list. */
#ifndef CST_OPTIMISE_IPOPT_FUNCTIONS_H
#define CST_OPTIMISE_IPOPT_FUNCTIONS_H

#ifndef CST_IPOPT_HEADER
typedef double Number;
typedef int Index, Int, Bool;
typedef void *UserDataPtr;
typedef struct IpoptProblemInfo *IpoptProblem;
enum { FALSE, TRUE };

typedef Bool (*Eval_F_CB)(Index n, Number *x, Bool fresh, Number *f, UserDataPtr user);
typedef Bool (*Eval_Grad_F_CB)(Index n, Number *x, Bool fresh, Number *df, UserDataPtr user);
typedef Bool (*Eval_G_CB)(Index n, Number *x, Bool fresh, Index m, Number *g, UserDataPtr user);
typedef Bool (*Eval_Jac_G_CB)(Index n, Number *x, Bool fresh, Index m, Index count, Index *row,
                              Index *col, Number *value, UserDataPtr user);
typedef Bool (*Eval_H_CB)(Index n, Number *x, Bool fresh, Number factor, Index m, Number *lambda,
                          Bool fresh_lambda, Index count, Index *row, Index *col, Number *value,
                          UserDataPtr user);
typedef Bool (*Intermediate_CB)(Index mode, Index iteration, Number f, Number inf_pr, Number inf_du,
                                Number mu, Number d_norm, Number regularization, Number alpha_du,
                                Number alpha_pr, Index trials, UserDataPtr user);

enum ApplicationReturnStatus { /* those that are told apart */
                               Solve_Succeeded = 0,
                               Solved_To_Acceptable_Level = 1,
                               Infeasible_Problem_Detected = 2,
                               Search_Direction_Becomes_Too_Small = 3,
                               User_Requested_Stop = 5,
                               Maximum_Iterations_Exceeded = -1
};
#endif

/* result, name, arguments */
#define IPOPT_FUNCTIONS(X)                                                                         \
    X(IpoptProblem, CreateIpoptProblem,                                                            \
      (Index n, Number * lower, Number * upper, Index m, Number * g_lower, Number * g_upper,       \
       Index njac, Index nhess, Index style, Eval_F_CB f, Eval_G_CB g, Eval_Grad_F_CB df,          \
       Eval_Jac_G_CB dg, Eval_H_CB h))                                                             \
    X(void, FreeIpoptProblem, (IpoptProblem p))                                                    \
    X(Bool, AddIpoptStrOption, (IpoptProblem p, char *name, char *value))                          \
    X(Bool, AddIpoptNumOption, (IpoptProblem p, char *name, Number value))                         \
    X(Bool, AddIpoptIntOption, (IpoptProblem p, char *name, Int value))                            \
    X(Bool, SetIntermediateCallback, (IpoptProblem p, Intermediate_CB iterate))                    \
    X(enum ApplicationReturnStatus, IpoptSolve,                                                    \
      (IpoptProblem p, Number * x, Number * g, Number * f, Number * mult_g, Number * mult_lower,   \
       Number * mult_upper, UserDataPtr user))

#endif
