// SPDX-License-Identifier: GPL-2.0-or-later
// The printable form of names, and the lines that findings become.

#include "tests/unit/unit.h"

#include "lib/mem.h"
#include "lib/report_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_escaped(const char *in, const char *out)
{
	struct fm_buf b = FM_BUF_INIT;

	fm_escape(&b, in);
	assert_string_equal(fm_buf_text(&b), out);
	fm_buf_release(&b);
}

static void printable_text_is_left_alone(void **state)
{
	(void)state;
	assert_escaped("", "");
	assert_escaped("plain ~ text", "plain ~ text");
	assert_escaped("caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x8c\xb3",
		       "caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x8c\xb3");
	assert_escaped("\xf4\x8f\xbf\xbd", "\xf4\x8f\xbf\xbd");
}

static void controls_are_escaped(void **state)
{
	(void)state;
	assert_escaped("a\nb\tc\x1b[m\x7f", "a\\x0ab\\x09c\\x1b[m\\x7f");
	assert_escaped("back\\slash", "back\\\\slash");
	/* C1, right-to-left override, line separator, byte order mark */
	assert_escaped("\xc2\x9b", "\\xc2\\x9b");
	assert_escaped("\xe2\x80\xae", "\\xe2\\x80\\xae");
	assert_escaped("\xe2\x80\xa8", "\\xe2\\x80\\xa8");
	assert_escaped("\xef\xbb\xbf", "\\xef\\xbb\\xbf");
}

static void what_is_no_utf8_is_escaped(void **state)
{
	(void)state;
	assert_escaped("\xff", "\\xff");
	assert_escaped("\x80x", "\\x80x");
	assert_escaped("\xc3", "\\xc3");
	assert_escaped("\xc3(", "\\xc3(");
	assert_escaped("\xe6\x97", "\\xe6\\x97");
	assert_escaped("\xc0\xaf", "\\xc0\\xaf");          /* overlong */
	assert_escaped("\xe0\x80\xaf", "\\xe0\\x80\\xaf"); /* overlong */
	assert_escaped("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* surrogate */
	assert_escaped("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	assert_true(fm_is_utf8("\n\x1b caf\xc3\xa9"));
	assert_false(fm_is_utf8("caf\xc3"));
	assert_false(fm_is_utf8("\xed\xa0\x80"));
}

static void assert_finding(const struct fm_where *where, const char *line)
{
	static const struct fm_check check = {.id = "unit.object.defect",
					      .severity = FM_ERROR};
	struct fm_report r;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fm_report_init(&r);
	fm_report_add(&r, &check, where, "expected 1,\nfound 2");
	fm_text_findings(out, "t\x1b", &r, FM_WARN);
	(void)fclose(out);
	assert_string_equal(text, line);
	free(text);
	fm_report_release(&r);
}

static void absent_parts_of_a_place_are_absent(void **state)
{
	(void)state;
	assert_finding(NULL, "t\\x1b: error: expected 1,\\x0afound 2 "
			     "[unit.object.defect]\n");
	assert_finding(&(struct fm_where){.object = "r1"},
		       "t\\x1b: error: r1: expected 1,\\x0afound 2 "
		       "[unit.object.defect]\n");
	assert_finding(&(struct fm_where){.path = "revs/1",
					  .object = "r1",
					  .has_offset = true,
					  .offset = 0},
		       "t\\x1b: error: r1 (revs/1, byte 0): expected 1,\\x0a"
		       "found 2 [unit.object.defect]\n");
}

static void findings_above_the_limit_are_counted(void **state)
{
	static const struct fm_check check = {.id = "unit.object.many",
					      .severity = FM_WARN};
	struct fm_policy policy = {.per_check = 1};
	struct fm_report r;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	fm_report_init(&r);
	r.policy = &policy;
	for (int i = 0; i < 3; i++)
		fm_report_add(&r, &check, NULL, "once more");
	fm_text_findings(out, "t", &r, FM_ERROR); /* prints nothing */
	fm_text_findings(out, "t", &r, FM_WARN);
	fm_text_summary(out, "t", &r);
	(void)fclose(out);
	assert_string_equal(text, "t: warn: once more [unit.object.many]\n"
				  "t: and 2 more of [unit.object.many]\n"
				  "t: 3 warnings\n");
	free(text);
	fm_report_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(printable_text_is_left_alone),
		cmocka_unit_test(controls_are_escaped),
		cmocka_unit_test(what_is_no_utf8_is_escaped),
		cmocka_unit_test(absent_parts_of_a_place_are_absent),
		cmocka_unit_test(findings_above_the_limit_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
