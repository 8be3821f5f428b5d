# The Python module with the command: callPackage ./package.nix { }
#
# src is the directory of the sources, or an unpacked source distribution.
{
  lib,
  python3Packages,
  pkg-config,
  elfutils,
  src ? ../..,
}:

let
  header = builtins.readFile (src + "/csrc/include/rocm_sdk/version.h");
  version = builtins.head (builtins.match ".*#define RSDK_VERSION \"([^\"]+)\".*" header);
in
python3Packages.buildPythonPackage {
  pname = "rocm-sdk-loader";
  inherit version src;
  pyproject = true;

  build-system = [ python3Packages.setuptools ];
  nativeBuildInputs = [ pkg-config ];
  buildInputs = [ elfutils ];

  pythonImportsCheck = [ "rocm_sdk" ];
  # The project's own tests need packages of PyPI.
  doCheck = false;
  doInstallCheck = true;
  installCheckPhase = ''
    runHook preInstallCheck
    $out/bin/rocm-sdk --version
    runHook postInstallCheck
  '';

  meta = {
    description = "Finds, orders, preloads and checks AMD's ROCm libraries";
    license = lib.licenses.mit;
    mainProgram = "rocm-sdk";
    platforms = lib.platforms.linux;
  };
}
