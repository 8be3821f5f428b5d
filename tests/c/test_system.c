/* Which system an os-release text names: those that distributions ship, and texts that are written otherwise. */
#include "diagnosis/system.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

static void assert_system(const char *text, rsdk_system wanted) {
    rsdk_system found = rsdk_system_of_release(text);
    if (found != wanted) {
        fail_msg("%s instead of %s:\n%s", rsdk_system_title(found), rsdk_system_title(wanted), text);
    }
}

/* The lines before and after those that count are there as the distributions have them. */
static void distributions_are_told_by_their_release_file(void **state) {
    static const struct {
        rsdk_system system;
        const char *text;
    } releases[] = {
        {RSDK_SYSTEM_DEBIAN,
         "PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"13\"\n"
         "VERSION=\"13 (trixie)\"\nVERSION_CODENAME=trixie\nID=debian\n"
         "HOME_URL=\"https://www.debian.org/\"\n"},
        {RSDK_SYSTEM_DEBIAN,
         "PRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\nNAME=\"Ubuntu\"\nVERSION_ID=\"24.04\"\n"
         "VERSION_CODENAME=noble\nID=ubuntu\nID_LIKE=debian\nUBUNTU_CODENAME=noble\nLOGO=ubuntu-logo\n"},
        {RSDK_SYSTEM_DEBIAN, "NAME=\"Linux Mint\"\nVERSION=\"22 (Wilma)\"\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"
                             "PRETTY_NAME=\"Linux Mint 22\"\nVERSION_ID=\"22\"\nUBUNTU_CODENAME=noble\n"},
        {RSDK_SYSTEM_FEDORA,
         "NAME=\"Fedora Linux\"\nVERSION=\"41 (Workstation Edition)\"\nRELEASE_TYPE=stable\nID=fedora\n"
         "VERSION_ID=41\nVERSION_CODENAME=\"\"\nPLATFORM_ID=\"platform:f41\"\n"
         "REDHAT_BUGZILLA_PRODUCT=\"Fedora\"\nVARIANT_ID=workstation\n"},
        {RSDK_SYSTEM_FEDORA,
         "NAME=\"Red Hat Enterprise Linux\"\nVERSION=\"9.4 (Plow)\"\nID=\"rhel\"\nID_LIKE=\"fedora\"\n"
         "VERSION_ID=\"9.4\"\nPLATFORM_ID=\"platform:el9\"\n"},
        {RSDK_SYSTEM_FEDORA, "NAME=\"CentOS Stream\"\nVERSION=\"9\"\nID=\"centos\"\nID_LIKE=\"rhel fedora\"\n"
                             "VERSION_ID=\"9\"\nPLATFORM_ID=\"platform:el9\"\n"},
        {RSDK_SYSTEM_FEDORA, "NAME=\"Rocky Linux\"\nVERSION=\"9.4 (Blue Onyx)\"\nID=\"rocky\"\n"
                             "ID_LIKE=\"rhel centos fedora\"\nVERSION_ID=\"9.4\"\n"},
        {RSDK_SYSTEM_FEDORA, "NAME=\"Amazon Linux\"\nVERSION=\"2023\"\nID=\"amzn\"\nID_LIKE=\"fedora\"\n"
                             "VERSION_ID=\"2023\"\nPLATFORM_ID=\"platform:al2023\"\n"},
        {RSDK_SYSTEM_SUSE, "NAME=\"openSUSE Tumbleweed\"\n# VERSION=\"20241115\"\nID=\"opensuse-tumbleweed\"\n"
                           "ID_LIKE=\"opensuse suse\"\nVERSION_ID=\"20241115\"\n"},
        {RSDK_SYSTEM_SUSE, "NAME=\"SLES\"\nVERSION=\"15-SP6\"\nVERSION_ID=\"15.6\"\n"
                           "PRETTY_NAME=\"SUSE Linux Enterprise Server 15 SP6\"\nID=\"sles\"\nID_LIKE=\"suse\"\n"},
        {RSDK_SYSTEM_ARCH, "NAME=\"Arch Linux\"\nPRETTY_NAME=\"Arch Linux\"\nID=arch\nBUILD_ID=rolling\n"
                           "LOGO=archlinux-logo\n"},
        {RSDK_SYSTEM_ARCH, "NAME=\"Manjaro Linux\"\nPRETTY_NAME=\"Manjaro Linux\"\nID=manjaro\nID_LIKE=arch\n"
                           "BUILD_ID=rolling\n"},
        {RSDK_SYSTEM_GENTOO, "NAME=Gentoo\nID=gentoo\nPRETTY_NAME=\"Gentoo Linux\"\nVERSION_ID=\"2.17\"\n"},
        {RSDK_SYSTEM_NIXOS, "ANSI_COLOR=\"1;34\"\nBUG_REPORT_URL=\"https://github.com/NixOS/nixpkgs/issues\"\n"
                            "BUILD_ID=\"24.05\"\nID=nixos\nIMAGE_ID=\"\"\nNAME=NixOS\nVERSION_ID=\"24.05\"\n"},
        {RSDK_SYSTEM_ANY, "NAME=\"Alpine Linux\"\nID=alpine\nVERSION_ID=3.20.3\nPRETTY_NAME=\"Alpine Linux v3.20\"\n"},
    };
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        assert_system(releases[i].text, releases[i].system);
    }
}

static void quotes_blanks_and_line_ends_do_not_count(void **state) {
    assert_system("ID='arch'\n", RSDK_SYSTEM_ARCH);
    assert_system("ID=\"arch\"", RSDK_SYSTEM_ARCH);
    assert_system("ID=arch", RSDK_SYSTEM_ARCH);
    assert_system("ID=arch ", RSDK_SYSTEM_ARCH);
    assert_system("\n\nID=arch\n", RSDK_SYSTEM_ARCH);
    assert_system("NAME=x\r\nID=arch\r\n", RSDK_SYSTEM_ARCH);
    assert_system("ID=x\r\nID_LIKE=\"y arch\"\r\n", RSDK_SYSTEM_ARCH);
    assert_system("ID=x\nID_LIKE=\"  y   arch  \"\n", RSDK_SYSTEM_ARCH);
    assert_system("ID=x\nID_LIKE=\"y\tarch\"\n", RSDK_SYSTEM_ARCH);
}

static void comments_are_no_values(void **state) {
    assert_system("# ID=debian\nID=arch\n", RSDK_SYSTEM_ARCH);
    assert_system("#ID=debian\n", RSDK_SYSTEM_ANY);
    assert_system("ID=arch # no debian\n", RSDK_SYSTEM_ARCH);
    assert_system("ID=x # debian\n", RSDK_SYSTEM_ANY);
    assert_system("ID=\"x\" debian\n", RSDK_SYSTEM_ANY);
}

static void other_keys_and_other_words_do_not_count(void **state) {
    assert_system("VERSION_ID=debian\nIDX=debian\nXID=debian\nID_LIKES=debian\nid=debian\n", RSDK_SYSTEM_ANY);
    assert_system("ID_LIKE=debian\nID=arch\n", RSDK_SYSTEM_ARCH);
    assert_system("ID\n=debian\n", RSDK_SYSTEM_ANY);
    assert_system("ID", RSDK_SYSTEM_ANY);
    assert_system("ID=", RSDK_SYSTEM_ANY);
    assert_system("ID=\nID_LIKE=arch", RSDK_SYSTEM_ARCH);
    assert_system("ID=\"\ndebian\"\n", RSDK_SYSTEM_ANY);
    assert_system("ID=archlinux\n", RSDK_SYSTEM_ANY);
    assert_system("ID=deb\n", RSDK_SYSTEM_ANY);
    assert_system("ID=Debian\n", RSDK_SYSTEM_ANY);
    assert_system("", RSDK_SYSTEM_ANY);
    assert_system("\n", RSDK_SYSTEM_ANY);
    assert_system("\xff\xfe\x01", RSDK_SYSTEM_ANY);
}

/* os-release(5): the closest comes first. */
static void the_first_word_that_is_known_counts(void **state) {
    assert_system("ID=x\nID_LIKE=\"arch debian\"\n", RSDK_SYSTEM_ARCH);
    assert_system("ID=x\nID_LIKE=\"y suse fedora\"\n", RSDK_SYSTEM_SUSE);
}

/* A value of `length` letters, then a word. */
static void assert_behind_letters(size_t length, const char *word, rsdk_system wanted) {
    static char text[1 << 16];
    (void)snprintf(text, sizeof text, "ID=\"%0*d %s\"\n", (int)length, 0, word);
    assert_system(text, wanted);
}

static void long_values_do_no_harm(void **state) {
    assert_behind_letters(200, "arch", RSDK_SYSTEM_ARCH);
    assert_behind_letters(60000, "arch", RSDK_SYSTEM_ARCH);
    assert_behind_letters(60000, "archlinux", RSDK_SYSTEM_ANY);
}

static void this_machine_is_told_by_its_own_file(void **state) {
    char text[1 << 14] = "";
    FILE *file = fopen("/etc/os-release", "r");
    if (file == NULL) {
        skip();
    }
    size_t length = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[length] = '\0';
    assert_int_equal(rsdk_system_current(), rsdk_system_of_release(text));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distributions_are_told_by_their_release_file),
        cmocka_unit_test(quotes_blanks_and_line_ends_do_not_count),
        cmocka_unit_test(comments_are_no_values),
        cmocka_unit_test(other_keys_and_other_words_do_not_count),
        cmocka_unit_test(the_first_word_that_is_known_counts),
        cmocka_unit_test(long_values_do_no_harm),
        cmocka_unit_test(this_machine_is_told_by_its_own_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
