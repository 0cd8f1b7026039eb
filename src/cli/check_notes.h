/* SPDX-License-Identifier: MIT
 *
 * costate check: warnings and notes about a model that is not wrong. */
#ifndef CST_CLI_CHECK_NOTES_H
#define CST_CLI_CHECK_NOTES_H

#include "cli/session.h"

/* Warnings go to the session's messages. rcond: of the step's matrix. */
void cst_check_notes(cst_session *s, double rcond, cst_diag *notes);

#endif
