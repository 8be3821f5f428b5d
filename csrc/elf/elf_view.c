/* Reading a file by address. */
#include "elf/elf_view.h"

#include <elf.h>
#include <string.h>

#include "base/fail.h"

enum { TABLE_WINDOW = 1 << 15, PLACE_WINDOW = 1 << 12, SEGMENT_LIMIT = 8 /* that go on without a gap */ };

static rsdk_status make_window(const rsdk_elf_view *view, uint64_t capacity, rsdk_elf_window *window) {
    uint64_t size = view->image->file->size;
    window->capacity = size < capacity ? size : capacity;
    window->bytes = rsdk_arena_alloc_room(view->image->scratch, (size_t)window->capacity);
    RSDK_NEED(window->bytes, view->error);
    return RSDK_OK;
}

const ElfW(Dyn) * rsdk_elf_image_entry(const rsdk_elf_image *image, ElfW(Sxword) tag) {
    const ElfW(Dyn) *found = NULL;
    for (size_t i = 0; i < image->dynamic_count && image->dynamic[i].d_tag != DT_NULL; i++) {
        found = image->dynamic[i].d_tag == tag ? &image->dynamic[i] : found;
    }
    return found;
}

rsdk_status rsdk_elf_view_init(const rsdk_elf_image *image, rsdk_elf_view *view, rsdk_error *error) {
    *view = (rsdk_elf_view){.image = image, .error = error};
    RSDK_TRY(make_window(view, TABLE_WINDOW, &view->table));
    RSDK_TRY(make_window(view, PLACE_WINDOW, &view->places[0]));
    return make_window(view, PLACE_WINDOW, &view->places[1]);
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

static uint64_t bytes_in_segment(const ElfW(Phdr) * segment, ElfW(Addr) address) {
    return segment != NULL && address - segment->p_vaddr < segment->p_filesz
               ? segment->p_filesz - (address - segment->p_vaddr)
               : 0;
}

/* Return the segment that goes on where one ends, in memory and in the file; NULL: none. patchelf puts growing tables
 * in front of the first segment, and tables then lie in both. */
static const ElfW(Phdr) * next_segment(const rsdk_elf_view *view, const ElfW(Phdr) * segment) {
    for (size_t i = 0; segment->p_filesz == segment->p_memsz && i < view->image->header_count; i++) {
        const ElfW(Phdr) *other = &view->image->headers[i];
        if (other->p_type == PT_LOAD && (other->p_flags & PF_R) != 0 && other->p_filesz > 0 &&
            other->p_vaddr == segment->p_vaddr + segment->p_memsz &&
            other->p_offset == segment->p_offset + segment->p_filesz) {
            return other;
        }
    }
    return NULL;
}

uint64_t rsdk_elf_view_bytes_from(rsdk_elf_view *view, ElfW(Addr) address) {
    const ElfW(Phdr) *segment = rsdk_elf_view_segment(view, address, 1, PF_R);
    uint64_t bytes = bytes_in_segment(segment, address);
    if (bytes > 0) {
        const ElfW(Phdr) *next = segment;
        for (int i = 0; i < SEGMENT_LIMIT && (next = next_segment(view, next)) != NULL; i++) {
            bytes += next->p_filesz;
        }
    }
    return bytes;
}

bool rsdk_elf_view_has(rsdk_elf_view *view, ElfW(Addr) address, uint64_t size) {
    return size <= bytes_in_segment(rsdk_elf_view_segment(view, address, 1, PF_R), address) ||
           size <= rsdk_elf_view_bytes_from(view, address);
}

static bool holds(const rsdk_elf_window *window, uint64_t offset, size_t size) {
    return rsdk_elf_is_within(offset, size, window->start, window->size);
}

/* Move the window to an offset of the file, or over the whole file. */
static rsdk_status move_window(const rsdk_elf_view *view, rsdk_elf_window *window, uint64_t offset) {
    const uint64_t file_size = view->image->file->size;
    offset = file_size <= window->capacity ? 0 : offset;
    uint64_t size = file_size - offset < window->capacity ? file_size - offset : window->capacity;
    window->size = 0;
    RSDK_TRY(rsdk_file_read(view->image->file, offset, window->bytes, (size_t)size, view->error));
    window->start = offset;
    window->size = size;
    return RSDK_OK;
}

/* Find where in the file the `size` bytes at an address are. The error says `what` if the file does not hold them. */
static rsdk_status offset_of(rsdk_elf_view *view, ElfW(Addr) address, uint64_t size, uint64_t *offset,
                             const char *what) {
    if (!rsdk_elf_view_has(view, address, size)) {
        return rsdk_elf_view_damaged(view, what);
    }
    *offset = view->last->p_offset + (address - view->last->p_vaddr);
    return RSDK_OK;
}

rsdk_status rsdk_elf_view_read(rsdk_elf_view *view, ElfW(Addr) address, void *target, size_t size, const char *what) {
    uint64_t offset = 0;
    RSDK_TRY(offset_of(view, address, size, &offset, what));
    if (size > PLACE_WINDOW) {
        return rsdk_file_read(view->image->file, offset, target, size, view->error);
    }
    bool is_small = view->image->file->size <= view->table.capacity; /* one window holds the whole file */
    rsdk_elf_window *window = is_small || holds(&view->table, offset, size) ? &view->table : &view->places[0];
    if (!holds(window, offset, size) && !is_small) {
        window = &view->places[holds(&view->places[1], offset, size) ? 1 : view->oldest_place];
        view->oldest_place = window == &view->places[0];
    }
    if (!holds(window, offset, size)) {
        RSDK_TRY(move_window(view, window, offset));
    }
    memcpy(target, window->bytes + (offset - window->start), size);
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
    rsdk_elf_window *window = &view->table;
    uint64_t offset = 0;
    walk->count = 0;
    walk->bytes = window->bytes; /* never NULL: memcpy does not accept it */
    if (walk->left == 0) {
        return RSDK_OK;
    }
    RSDK_TRY(offset_of(view, walk->next, walk->left * walk->unit, &offset, walk->what));
    if (!holds(window, offset, walk->unit)) {
        rsdk_file_ask_blocks(view->image->file, offset, walk->left * walk->unit);
        RSDK_TRY(move_window(view, window, offset));
    }
    const uint64_t available = window->size - (offset - window->start);
    walk->bytes = window->bytes + (offset - window->start);
    walk->count = available / walk->unit < walk->left ? (size_t)(available / walk->unit) : (size_t)walk->left;
    walk->left -= walk->count;
    walk->next += walk->count * walk->unit;
    return RSDK_OK;
}
