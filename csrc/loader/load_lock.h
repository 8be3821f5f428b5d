/* The locks: the only global state of the library. One load runs at a time in a process, so that of two threads that
 * ask for the same libraries one loads and both see them. fork() waits for both locks, so that no child inherits a
 * library whose constructors are half run, or the linker's own lock, which nobody would ever release there. */
#ifndef RSDK_LOADER_LOAD_LOCK_H
#define RSDK_LOADER_LOAD_LOCK_H

/* Takes the lock of loading; the thread that has it may take it again (a library's constructor may call us). Never hold
 * Python's GIL here: the constructors that run under the lock may want it. */
void rsdk_load_lock_take(void);
void rsdk_load_lock_release(void);

/* Around every question to the linker that is not a load: dl_iterate_phdr, dlinfo, dlopen of what is there. Code of
 * others never runs meanwhile, so it is held for a moment only, and a load in another thread does not delay it. */
void rsdk_load_lock_begin_question(void);
void rsdk_load_lock_end_question(void);

#endif
