/* Reading a file by address. */
#include "elf/elf_view.h"

#include <elf.h>
#include <string.h>

#include "base/fail.h"

enum { WINDOW_SIZE = 1 << 14 };

rsdk_status rsdk_elf_view_init(const rsdk_elf_image *image, rsdk_elf_view *view, rsdk_error *error) {
    *view = (rsdk_elf_view){.image = image, .error = error};
    view->window =
        rsdk_arena_alloc(image->scratch, image->file->size < WINDOW_SIZE ? (size_t)image->file->size : WINDOW_SIZE, 1);
    RSDK_NEED(view->window, error);
    return RSDK_OK;
}

rsdk_status rsdk_elf_view_damaged(const rsdk_elf_view *view, const char *what) {
    const char *path = view->image->file->path;
    (void)rsdk_fail(view->error, RSDK_BAD_ELF, path, "%s: %s", path, what);
    return RSDK_BAD_ELF;
}

const ElfW(Phdr) * rsdk_elf_view_segment(rsdk_elf_view *view, ElfW(Addr) address, uint64_t size, ElfW(Word) flags) {
    if (view->last != NULL && rsdk_elf_is_within(address, size, view->last->p_vaddr, view->last->p_memsz) &&
        (view->last->p_flags & flags) == flags) {
        return view->last;
    }
    for (size_t i = 0; i < view->image->header_count; i++) {
        const ElfW(Phdr) *segment = &view->image->headers[i];
        if (segment->p_type == PT_LOAD && rsdk_elf_is_within(address, size, segment->p_vaddr, segment->p_memsz) &&
            (segment->p_flags & flags) == flags) {
            view->last = segment;
            return segment;
        }
    }
    return NULL;
}

bool rsdk_elf_view_is_code(rsdk_elf_view *view, ElfW(Addr) address) {
    return rsdk_elf_view_segment(view, address, 1, PF_X) != NULL;
}

uint64_t rsdk_elf_view_bytes_from(rsdk_elf_view *view, ElfW(Addr) address) {
    const ElfW(Phdr) *segment = rsdk_elf_view_segment(view, address, 1, PF_R);
    return segment != NULL && address - segment->p_vaddr < segment->p_filesz
               ? segment->p_filesz - (address - segment->p_vaddr)
               : 0;
}

bool rsdk_elf_view_has(rsdk_elf_view *view, ElfW(Addr) address, uint64_t size) {
    return size <= rsdk_elf_view_bytes_from(view, address);
}

/* The bytes at an address, `size` of them, at most a window; valid until the next call. `*available` is how many more
 * the window holds. The error says `what` if the file does not hold them. */
static rsdk_status look_at(rsdk_elf_view *view, ElfW(Addr) address, size_t size, const char **bytes, size_t *available,
                           const char *what) {
    if (!rsdk_elf_view_has(view, address, size)) {
        return rsdk_elf_view_damaged(view, what);
    }
    uint64_t offset = view->last->p_offset + (address - view->last->p_vaddr);
    if (!rsdk_elf_is_within(offset, size, view->window_start, view->window_size)) {
        uint64_t left = view->image->file->size - offset;
        view->window_size = 0;
        RSDK_TRY(rsdk_file_read(view->image->file, offset, view->window,
                                left < WINDOW_SIZE ? (size_t)left : WINDOW_SIZE, view->error));
        view->window_start = offset;
        view->window_size = left < WINDOW_SIZE ? left : WINDOW_SIZE;
    }
    *bytes = view->window + (offset - view->window_start);
    *available = (size_t)(view->window_size - (offset - view->window_start));
    return RSDK_OK;
}

rsdk_status rsdk_elf_view_read(rsdk_elf_view *view, ElfW(Addr) address, void *target, size_t size, const char *what) {
    const char *bytes = NULL;
    size_t available = 0;
    RSDK_TRY(look_at(view, address, size, &bytes, &available, what));
    memcpy(target, bytes, size);
    return RSDK_OK;
}

rsdk_status rsdk_elf_view_copy(rsdk_elf_view *view, ElfW(Addr) address, size_t size, rsdk_arena *arena, void **copy,
                               const char *what) {
    if (size > 0 && !rsdk_elf_view_has(view, address, size)) {
        return rsdk_elf_view_damaged(view, what);
    }
    *copy = rsdk_arena_alloc(arena, size + 1, 1);
    RSDK_NEED(*copy, view->error);
    return size == 0 ? RSDK_OK
                     : rsdk_file_read(view->image->file, view->last->p_offset + (address - view->last->p_vaddr), *copy,
                                      size, view->error);
}

rsdk_status rsdk_elf_walk_next(rsdk_elf_view *view, rsdk_elf_walk *walk) {
    size_t available = 0;
    walk->count = 0;
    walk->bytes = view->window; /* never NULL: memcpy does not accept it */
    if (walk->left == 0) {
        return RSDK_OK;
    }
    if (!rsdk_elf_view_has(view, walk->next, walk->left * walk->unit)) {
        return rsdk_elf_view_damaged(view, walk->what);
    }
    RSDK_TRY(look_at(view, walk->next, walk->unit, &walk->bytes, &available, walk->what));
    walk->count = available / walk->unit < walk->left ? available / walk->unit : (size_t)walk->left;
    walk->left -= walk->count;
    walk->next += walk->count * walk->unit;
    return RSDK_OK;
}
