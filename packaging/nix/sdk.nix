# One ROCm out of the store's many prefixes, tested, and a command that has it:
#
#   callPackage ./sdk.nix { rocm-sdk-loader = callPackage ./package.nix { }; prefixes = with rocmPackages; [ clr rocrand ]; }
#
# The loader takes a ROCm whole, so that its libraries fit together. A tree of links makes one of the prefixes. `sdk` is
# that tree, `loader` has the command with ROCM_SDK_FALLBACK set to it; a shell takes the variable from `variables`.
{
  symlinkJoin,
  runCommand,
  makeWrapper,
  rocm-sdk-loader,
  prefixes,
}:

let
  tree = symlinkJoin {
    name = "rocm-sdk";
    paths = prefixes;
  };
in
rec {
  sdk = tree;
  variables.ROCM_SDK_FALLBACK = "prefix:${tree}";

  # It fails if a library, a program or a CMake package of the tree is wrong. No GPU is needed.
  test = runCommand "rocm-sdk-test" { nativeBuildInputs = [ rocm-sdk-loader ]; } ''
    rocm-sdk test --sdk ${tree} --junit $out
  '';

  loader = runCommand "rocm-sdk-loader-with-sdk" { nativeBuildInputs = [ makeWrapper ]; } ''
    mkdir -p $out/bin
    makeWrapper ${rocm-sdk-loader}/bin/rocm-sdk $out/bin/rocm-sdk \
      --set ROCM_SDK_FALLBACK ${variables.ROCM_SDK_FALLBACK}
  '';
}
