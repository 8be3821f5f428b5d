/* Replaces a symbolic link to a program, because wheels cannot hold links. It follows the link from the directory of
 * this file, and starts that program with the same arguments. It has no C library, so it does not need a newer one than
 * the program does.
 *
 * Given by the compiler's command line, both texts:
 *   NAME   the file's name, for messages
 *   LINK   the text of the link
 */
#include "freestanding.h"

_Noreturn void start(long *stack);

_Noreturn void start(long *stack) {
    char **words = (char **)(stack + 1), **environment = words + stack[0] + 1;
    path own, program;
    if (!read_link("/proc/self/exe", &own)) {
        fail("/proc/self/exe: cannot be read", "", "");
    }
    to_directory(&own);
    if (LINK[0] == '/') {
        set(&program, LINK, "");
    } else {
        set(&program, own.text, LINK);
    }
    long error = call(__NR_execve, (long)program.text, (long)words, (long)environment, 0);
    fail("", program.text, words_for(error));
}
