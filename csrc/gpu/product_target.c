/* The target of a PCI device, and the targets that a product has, by its whole name: "RX 7900 XTX", "rx7900xtx",
 * "MI300X". The names are those of the tables of targets and of PCI devices, where " / " or ", " is between
 * products. */
#include <ctype.h>
#include <string.h>

#include "gpu/tables.h"
#include "gpu/targets.h"

enum { NAME_SIZE = 64 };

/* Keep of a name what tells products apart: letters in lower case and digits, without the words of AMD's brands. */
static void simplify(const char *name, size_t length, char simple[NAME_SIZE]) {
    static const char *const brands[] = {"amd", "radeon", "instinct", "rx", "ai", "pro"};
    static const char suffix[] = "graphics";
    size_t used = 0, begin = 0;
    for (size_t i = 0; i < length && name[i] != '(' && used + 1 < NAME_SIZE; i++) {
        const char c = (char)tolower((unsigned char)name[i]);
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            simple[used++] = c;
        }
    }
    simple[used] = '\0';
    for (size_t i = 0; i < sizeof brands / sizeof *brands; i++) {
        const size_t brand = strlen(brands[i]);
        begin += strncmp(simple + begin, brands[i], brand) == 0 ? brand : 0;
    }
    used -= used - begin > sizeof suffix - 1 && strcmp(simple + used - (sizeof suffix - 1), suffix) == 0
                ? sizeof suffix - 1
                : 0;
    memmove(simple, simple + begin, used - begin);
    simple[used - begin] = '\0';
}

/* Return whether one of the products in a text has the simplified name. */
static bool has_product(const char *text, const char *wanted) {
    char simple[NAME_SIZE];
    for (const char *at = text; *at != '\0';) {
        const char *slash = strstr(at, " / "), *comma = strstr(at, ", ");
        const char *end = slash == NULL || (comma != NULL && comma < slash) ? comma : slash;
        const size_t length = end != NULL ? (size_t)(end - at) : strlen(at);
        simplify(at, length, simple);
        if (strcmp(simple, wanted) == 0) {
            return true;
        }
        at += length + (end == NULL ? 0 : end == slash ? 3 : 2);
    }
    return false;
}

const char *rsdk_target_of_device(unsigned device_id) {
    for (size_t i = 0; i < rsdk_pci_device_table_size; i++) {
        if (device_id >= rsdk_pci_device_table[i].first && device_id <= rsdk_pci_device_table[i].last) {
            return rsdk_pci_device_table[i].target;
        }
    }
    return NULL;
}

/* Return whether a PCI device of the target is a product of the simplified name. */
static bool has_device(const rsdk_target *target, const char *wanted) {
    for (size_t i = 0; i < rsdk_product_table_size; i++) {
        const char *of_device = rsdk_target_of_device(rsdk_product_table[i].device_id);
        if (of_device != NULL && strcmp(of_device, target->name) == 0 &&
            has_product(rsdk_product_table[i].name, wanted)) {
            return true;
        }
    }
    return false;
}

size_t rsdk_target_find_product(const char *name, size_t length, const rsdk_target **first, rsdk_text *all) {
    char wanted[NAME_SIZE];
    size_t count = 0;
    simplify(name, length, wanted);
    /* A word alone is a chip or a brand ("Vega", "Graphics"), but for the Radeon VII. */
    const bool is_whole = strpbrk(wanted, "0123456789") != NULL || strcmp(wanted, "vii") == 0;
    for (size_t i = 0; i < rsdk_target_table_size && is_whole; i++) {
        const rsdk_target *target = &rsdk_target_table[i];
        if (target->families[0] != NULL && (has_product(target->product, wanted) || has_device(target, wanted))) {
            *first = count++ == 0 ? target : *first;
            rsdk_text_add_item(all, ", ", target->name);
        }
    }
    return count;
}
