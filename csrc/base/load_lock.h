/* The locks, which are the only global state of the library. A process has one running load at a time: if two threads
 * ask for the same libraries, one loads them and both see them. fork() waits for both locks. Otherwise a child could
 * inherit a library whose constructors are still running, or the linker's own lock, which nobody would release in the
 * child. */
#ifndef RSDK_BASE_LOAD_LOCK_H
#define RSDK_BASE_LOAD_LOCK_H

/* Take the lock of loading; the thread that has the lock may take it again (a library's constructor may call us). Never
 * hold Python's GIL here: the constructors that run under the lock may want it. */
void rsdk_load_lock_take(void);
void rsdk_load_lock_release(void);

/* Take and release the lock around each dl_iterate_phdr: glibc's fork renews the linker's main lock in the child, but
 * not the lock that this function takes. No code of others runs under our lock, so it is held for a moment only. Never
 * take the lock around dlopen or dlinfo, which wait for constructors that may call us. */
void rsdk_load_lock_begin_iteration(void);
void rsdk_load_lock_end_iteration(void);

#endif
