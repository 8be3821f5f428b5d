/* The load lock: the only global state of the library. One load runs at a time in a process, so that of two threads
 * that ask for the same libraries one loads and both see them; fork() waits, so that no child inherits a library whose
 * constructors are half run. */
#ifndef RSDK_LOADER_LOAD_LOCK_H
#define RSDK_LOADER_LOAD_LOCK_H

/* Takes the lock; the thread that has it may take it again (a library's constructor may call us). Never hold Python's
 * GIL here: the constructors that run under the lock may want it. */
void rsdk_load_lock_take(void);
void rsdk_load_lock_release(void);

#endif
