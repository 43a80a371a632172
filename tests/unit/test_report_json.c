// SPDX-License-Identifier: GPL-2.0-or-later
// JSON Lines: one object a line, whatever bytes the texts hold.

#include "tests/unit/unit.h"

#include "lib/report_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t size;

static FILE *open_text(void)
{
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	return out;
}

static void assert_text(FILE *out, const char *expected)
{
	(void)fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void members_come_in_the_order_they_were_set(void **state)
{
	static const char *const items[] = {"x", "y\n"};
	FILE *out = open_text();
	struct fm_json *j = fm_json_begin("summary", "a/b");

	(void)state;
	fm_json_number(j, "n", INT64_MAX);
	fm_json_number(j, "huge", UINT64_MAX);
	fm_json_flag(j, "yes", true);
	fm_json_open(j, "inner");
	fm_json_real(j, "seconds", 0.5);
	fm_json_close(j);
	fm_json_list(j, "items", items, 2);
	fm_json_end(j, out);
	assert_text(out, "{\"schema\":\"fsmend/1\",\"type\":\"summary\","
			 "\"target\":\"a/b\",\"n\":9223372036854775807,"
			 "\"huge\":\"18446744073709551615\",\"yes\":true,"
			 "\"inner\":{\"seconds\":0.5},"
			 "\"items\":[\"x\",\"y\\n\"]}\n");
}

static void what_is_no_utf8_is_escaped_and_said_to_be(void **state)
{
	FILE *out = open_text();

	(void)state;
	fm_json_end(fm_json_begin("summary", "a\xff\\"), out);
	assert_text(out, "{\"schema\":\"fsmend/1\",\"type\":\"summary\","
			 "\"target\":\"a\\\\xff\\\\\\\\\",\"escaped\":true}\n");
}

static void a_finding_names_what_it_has(void **state)
{
	static const struct fm_check check = {.id = "unit.object.defect",
					      .severity = FM_FATAL,
					      .repair = FM_REPAIR_SAFE};
	const struct fm_where where = {
		.path = "revs/1", .has_offset = true, .offset = 17};
	struct fm_report r;
	FILE *out = open_text();

	(void)state;
	fm_report_init(&r);
	fm_report_add(&r, &check, &where, "found %d", 2);
	fm_json_findings(out, "t", &r, FM_NOTE);
	assert_text(out, "{\"schema\":\"fsmend/1\",\"type\":\"finding\","
			 "\"target\":\"t\",\"check\":\"unit.object.defect\","
			 "\"severity\":\"fatal\",\"path\":\"revs/1\","
			 "\"offset\":17,\"detail\":\"found 2\","
			 "\"repair\":\"safe\",\"state\":\"open\"}\n");
	fm_report_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_come_in_the_order_they_were_set),
		cmocka_unit_test(what_is_no_utf8_is_escaped_and_said_to_be),
		cmocka_unit_test(a_finding_names_what_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
