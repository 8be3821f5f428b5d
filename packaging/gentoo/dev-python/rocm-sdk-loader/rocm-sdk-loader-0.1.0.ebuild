# Copyright 2026 Gentoo Authors
# Distributed under the terms of the GNU General Public License v2

EAPI=8

DISTUTILS_EXT=1
DISTUTILS_USE_PEP517=setuptools
PYTHON_COMPAT=( python3_{11..13} )

inherit distutils-r1 pypi

DESCRIPTION="Finds, orders, preloads and checks AMD's ROCm libraries"
HOMEPAGE="https://pypi.org/project/rocm-sdk-loader/"

LICENSE="MIT"
SLOT="0"
KEYWORDS="~amd64"

DEPEND="virtual/libelf:="
RDEPEND="${DEPEND}"
BDEPEND="virtual/pkgconfig"

python_test() {
	# The project's own tests need packages of PyPI.
	cd "${T}" || die
	"${EPYTHON}" -m rocm_sdk --version || die
	"${EPYTHON}" -m rocm_sdk explain E-PKG-001 >/dev/null || die
}
