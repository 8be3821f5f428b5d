-- The ROCm SDK and its loader as a module of Lmod. Both are in a directory that is laid out as site-packages:
--     python3 -m pip install --target /opt/rocm-sdk/7.10.0 'rocm[libraries]' ./rocm_sdk_loader-*.whl
-- Copy this file to rocm-sdk/7.10.0.lua in a directory of MODULEPATH.

local prefix = pathJoin("/opt/rocm-sdk", myModuleVersion())

help("ROCm " .. myModuleVersion() .. " of Python wheels, in " .. prefix .. ".\n"
    .. "Each Python 3.10 or later imports rocm_sdk and loads this SDK. `rocm-sdk info` shows it.")
whatis("Name: rocm-sdk")
whatis("Version: " .. myModuleVersion())
whatis("Description: AMD's ROCm of Python wheels, and the command rocm-sdk")

family("rocm")

if mode() == "load" and not isFile(pathJoin(prefix, "rocm_sdk/__init__.py")) then
    LmodError(prefix .. ": there is no package rocm_sdk. Install the SDK there, or change `prefix` in " .. myFileName())
end

prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("PYTHONPATH", prefix)
setenv("ROCM_SDK_ROOT", prefix)
