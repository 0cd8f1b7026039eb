/* SPDX-License-Identifier: MIT
 *
 * What a user's first program sees: one header, one library. */
#include <costate.h>
#include <stdio.h>

int main(void)
{
    printf("costate %s\n", cst_version());
    printf("%s\n", cst_status_text(CST_MODEL));
    return 0;
}
