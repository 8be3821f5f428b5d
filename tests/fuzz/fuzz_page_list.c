/* Any bytes as a page list. What is taken from one lies within its file and its list, and is written as it was. */
#include "fuzz_target.h"
#include "loader/read_ahead/page_list.h"

static void check_file(const rsdk_page_list *list, const rsdk_paged_file *file) {
    uint64_t next = 0;
    require(file->directory[0] != '\0' && file->directory[0] != '/' && strncmp(file->directory, "../", 3) != 0);
    require(strstr(file->directory, "/../") == NULL && strchr(file->name, '/') == NULL && file->name[0] != '\0');
    require(file->size > 0 && file->size <= INT64_MAX && file->build_id_size <= sizeof file->build_id);
    require(file->build_id_size <= file->size && file->build_id_place <= file->size - file->build_id_size);
    for (size_t i = 0; i < file->needed.count; i++) {
        require(file->needed.items[i] < list->files.count);
    }
    for (size_t i = 0; i < file->ranges.count; i++) {
        const rsdk_page_range *range = &file->ranges.items[i];
        require(range->first >= next && range->last >= range->first);
        require(range->last <= (file->size - 1) / RSDK_PAGE_SIZE);
        next = range->last + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_page_list list;
    rsdk_text written = RSDK_TEXT_INIT;
    char *text = rsdk_arena_copy_bytes(&arena, (const char *)bytes, size);
    require(text != NULL);
    rsdk_status status = rsdk_page_list_parse("a.pages", text, size, &arena, &list, &error);
    require(status == RSDK_OK ||
            (status == RSDK_BAD_METADATA && strstr(error.message, "a.pages, line ") == error.message));
    for (size_t i = 0; status == RSDK_OK && i < list.files.count; i++) {
        check_file(&list, &list.files.items[i]);
    }
    if (status == RSDK_OK) {
        rsdk_page_list again;
        rsdk_page_list_add_text(&list, &written);
        require(!written.failed);
        require(rsdk_page_list_parse("a.pages", written.data, written.length, &arena, &again, NULL) == RSDK_OK);
        require(again.files.count == list.files.count);
    }
    rsdk_text_clear(&written);
    rsdk_error_clear(&error);
    rsdk_arena_clear(&arena);
    return 0;
}
