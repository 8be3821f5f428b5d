/* Stands for a symbolic link to a program, which wheels cannot hold: starts the program that the link leads to from
 * the directory of this file, with the arguments unchanged. LINK is the text of the link. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char path[PATH_MAX + sizeof LINK + 1], real[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    (void)argc;
    if (length <= 0 || length >= PATH_MAX) {
        perror("/proc/self/exe");
        return 1;
    }
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (LINK[0] == '/') {
        slash = path;
        strcpy(slash, LINK);
    } else {
        strcpy(slash + 1, LINK);
    }
    if (realpath(path, real) == NULL) {
        perror(path);
        return 1;
    }
    execv(real, argv);
    perror(real);
    return 1;
}
