/* The module's state. */
#include "state.h"

rsdk_module_state *rsdk_state_get(PyObject *module) {
    return PyModule_GetState(module);
}
