/* Reading a stack without help of the process. Sources: proc(5) for /proc/PID/syscall, the instruction sets' manuals
 * for the forms of calls. */
#include "binding/bindings.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/process_memory.h"
#include "binding/linker_state.h"

enum {
    STACK_LIMIT = 1 << 17, /* bytes that are looked at */
    CALLS_LIMIT = 64,
    LONGEST_CALL = 7, /* bytes of a call instruction */
};

typedef struct reading {
    rsdk_linker_state state;
    rsdk_link_map map;
    rsdk_process_memory memory;
    rsdk_arena *arena;
    rsdk_stack_calls *calls;
    rsdk_error *error;
} reading;

/* Return whether the instruction before an address is a call. */
static bool follows_call(reading *r, uintptr_t address) {
    unsigned char bytes[LONGEST_CALL + 1];
    for (size_t i = 0; i < LONGEST_CALL; i++) {
        uintptr_t word = 0;
        if (!rsdk_process_memory_read_word(&r->memory, address - LONGEST_CALL + i, &word)) {
            return false;
        }
        memcpy(&bytes[i], &word, 1); /* little-endian, as both machines are */
    }
#if defined(__aarch64__)
    uint32_t instruction;
    memcpy(&instruction, &bytes[LONGEST_CALL - sizeof instruction], sizeof instruction);
    return (instruction & 0xFC000000U) == 0x94000000U || (instruction & 0xFFFFFC1FU) == 0xD63F0000U; /* BL, BLR */
#else
    static const size_t lengths[] = {2, 3, 4, 6, 7}; /* of FF /2: through a register or memory */
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const unsigned char *call = &bytes[LONGEST_CALL - lengths[i]];
        if (call[0] == 0xFF && (call[1] & 0x38) == 0x10) {
            return true;
        }
    }
    return bytes[LONGEST_CALL - 5] == 0xE8;
#endif
}

/* Return the exported function that has an address; NULL: none. */
static const char *function_with(const rsdk_linker_object *object, uintptr_t address) {
    const rsdk_elf_dynsym *symbols = &object->symbols;
    uintptr_t place = address - object->base;
    for (uint32_t i = 0; i < symbols->count; i++) {
        const ElfW(Sym) *symbol = &symbols->symbols[i];
        unsigned type = ELF64_ST_TYPE(symbol->st_info); /* the same in both classes */
        if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF && place >= symbol->st_value &&
            place - symbol->st_value < symbol->st_size) {
            return rsdk_elf_dynsym_name(symbols, i);
        }
    }
    return NULL;
}

/* Take an address inside the calling instruction: behind a call that never returns, another function may begin. */
static rsdk_status take_call(reading *r, uintptr_t address) {
    size_t index = rsdk_link_map_find_address(&r->map, address);
    const rsdk_linker_object *object = index != RSDK_NO_OBJECT ? rsdk_linker_state_at(&r->state, index) : NULL;
    if (object == NULL || !object->symbols.is_known || r->calls->count >= CALLS_LIMIT) {
        return RSDK_OK;
    }
    const rsdk_stack_call call = {.path = object->path, .function = function_with(object, address)};
    const rsdk_stack_call *last = r->calls->count > 0 ? &r->calls->items[r->calls->count - 1] : NULL;
    if (last == NULL || last->path != call.path || last->function != call.function) {
        RSDK_APPEND(r->arena, r->calls, call, r->error);
    }
    return RSDK_OK;
}

static rsdk_status walk(reading *r, uintptr_t stack, uintptr_t place) {
    uintptr_t word = 0;
    RSDK_TRY(take_call(r, place));
    for (uintptr_t at = stack; at < stack + STACK_LIMIT && rsdk_process_memory_read_word(&r->memory, at, &word);
         at += sizeof word) {
        if (rsdk_link_map_find_address(&r->map, word) != RSDK_NO_OBJECT && follows_call(r, word)) {
            RSDK_TRY(take_call(r, word - 1));
        }
    }
    return RSDK_OK;
}

static rsdk_status read_calls(reading *r, pid_t pid) {
    char *text = NULL;
    size_t size = 0;
    RSDK_TRY(rsdk_process_memory_read_file(pid, "syscall", r->arena, &text, &size, r->error));
    char *place = strrchr(text, ' '); /* "... SP PC"; "running" has neither */
    if (place == NULL) {
        return RSDK_OK;
    }
    *place = '\0';
    const char *stack = strrchr(text, ' ');
    if (stack == NULL) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_link_map_read_process(pid, r->arena, &r->map, r->error));
    RSDK_TRY(rsdk_linker_state_of_process(pid, r->arena, &r->map, &r->state, r->error));
    return walk(r, strtoull(stack, NULL, 0), strtoull(place + 1, NULL, 0));
}

rsdk_status rsdk_thread_stack_read(pid_t pid, rsdk_arena *arena, rsdk_stack_calls *calls, rsdk_error *error) {
    reading r = {.arena = arena, .calls = calls, .error = error};
    RSDK_TRY(rsdk_process_memory_open(pid, &r.memory, error));
    rsdk_status status = read_calls(&r, pid);
    rsdk_process_memory_close(&r.memory);
    rsdk_linker_state_clear(&r.state);
    return status;
}
