/* The writer of minimal shared objects. glibc insists on a PT_LOAD, a PT_DYNAMIC in a writable one (glibc relocates the
 * pointers in place), DT_STRTAB, DT_SYMTAB and a hash table; and PT_GNU_STACK, without which glibc would make the
 * stacks executable. The only segment is data: the file need not be executable, so neither a noexec mount nor
 * vm.memfd_noexec stands in its way. */
#include "elf/stub.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

enum { HEADER_COUNT = 3, FIXED_DYNAMIC_COUNT = 6, HASH_WORDS = 4 };

/* The parts of the file, in file order; the address of each equals its offset. */
typedef struct layout {
    size_t headers, dynamic, symbols, hash, strings, end;
    size_t dynamic_count;
} layout;

static layout lay_out(const char *soname, const rsdk_strings *needed) {
    layout l = {.headers = sizeof(ElfW(Ehdr)), .dynamic_count = needed->count + (soname != NULL) + FIXED_DYNAMIC_COUNT};
    l.dynamic = l.headers + HEADER_COUNT * sizeof(ElfW(Phdr));
    l.symbols = l.dynamic + l.dynamic_count * sizeof(ElfW(Dyn));
    l.hash = l.symbols + sizeof(ElfW(Sym));
    l.strings = l.hash + HASH_WORDS * sizeof(uint32_t);
    l.end = l.strings + 1 + (soname != NULL ? strlen(soname) + 1 : 0);
    for (size_t i = 0; i < needed->count; i++) {
        l.end += strlen(needed->items[i]) + 1;
    }
    return l;
}

static void write_headers(const rsdk_elf_file *model, const layout *l, char *bytes) {
    ElfW(Ehdr) header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, (unsigned char)model->elf_class,
                    (unsigned char)model->data_encoding, EV_CURRENT, ELFOSABI_NONE},
        .e_type = ET_DYN,
        .e_machine = (ElfW(Half))model->machine,
        .e_version = EV_CURRENT,
        .e_phoff = l->headers,
        .e_flags = model->flags,
        .e_ehsize = sizeof(ElfW(Ehdr)),
        .e_phentsize = sizeof(ElfW(Phdr)),
        .e_phnum = HEADER_COUNT,
    };
    const ElfW(Phdr) segments[HEADER_COUNT] = {
        {.p_type = PT_LOAD,
         .p_flags = PF_R | PF_W,
         .p_filesz = l->end,
         .p_memsz = l->end,
         .p_align = (ElfW(Xword))sysconf(_SC_PAGESIZE)},
        {.p_type = PT_DYNAMIC,
         .p_flags = PF_R | PF_W,
         .p_offset = l->dynamic,
         .p_vaddr = l->dynamic,
         .p_paddr = l->dynamic,
         .p_filesz = l->dynamic_count * sizeof(ElfW(Dyn)),
         .p_memsz = l->dynamic_count * sizeof(ElfW(Dyn)),
         .p_align = sizeof(ElfW(Addr))},
        {.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = sizeof(ElfW(Addr))},
    };
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + l->headers, segments, sizeof segments);
}

/* Append one entry to the dynamic section at `*next`. */
static void write_entry(char *bytes, size_t *next, ElfW(Sxword) tag, size_t value) {
    ElfW(Dyn) entry = {.d_tag = tag, .d_un.d_val = value};
    memcpy(bytes + *next, &entry, sizeof entry);
    *next += sizeof entry;
}

/* Append a string at `*end`; return its index in the string table. */
static size_t write_string(const layout *l, char *bytes, size_t *end, const char *text) {
    size_t index = *end - l->strings;
    memcpy(bytes + *end, text, strlen(text) + 1);
    *end += strlen(text) + 1;
    return index;
}

rsdk_status rsdk_elf_stub_make(const rsdk_elf_file *model, const char *soname, const rsdk_strings *needed,
                               rsdk_arena *arena, rsdk_elf_stub *stub, rsdk_error *error) {
    layout l = lay_out(soname, needed);
    char *bytes = rsdk_arena_alloc(arena, l.end, 1);
    RSDK_NEED(bytes, error);
    const uint32_t hash[HASH_WORDS] = {0, 1, 0, 0}; /* no bucket: the linker passes the object by in look-ups */
    write_headers(model, &l, bytes);
    size_t next = l.dynamic, end = l.strings + 1; /* the string table starts with the empty string */
    for (size_t i = 0; i < needed->count; i++) {
        write_entry(bytes, &next, DT_NEEDED, write_string(&l, bytes, &end, needed->items[i]));
    }
    if (soname != NULL) {
        write_entry(bytes, &next, DT_SONAME, write_string(&l, bytes, &end, soname));
    }
    write_entry(bytes, &next, DT_HASH, l.hash);
    write_entry(bytes, &next, DT_STRTAB, l.strings);
    write_entry(bytes, &next, DT_STRSZ, l.end - l.strings);
    write_entry(bytes, &next, DT_SYMTAB, l.symbols);
    write_entry(bytes, &next, DT_SYMENT, sizeof(ElfW(Sym)));
    write_entry(bytes, &next, DT_NULL, 0);
    memcpy(bytes + l.hash, hash, sizeof hash);
    *stub = (rsdk_elf_stub){.bytes = bytes, .size = l.end};
    return RSDK_OK;
}
