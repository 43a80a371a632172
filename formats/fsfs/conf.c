// SPDX-License-Identifier: GPL-2.0-or-later
// db/fsfs.conf, an ini file as Subversion reads it: names of sections and
// keys in any case, '#' comments at the start of a line, values that go on in
// lines that begin with white space, the last of several values counts.

#include "formats/fsfs/conf.h"

#include "formats/fsfs/index.h"

#include "lib/reader.h"
#include "lib/textrec.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

enum { CONF_MAX = 1 << 20, WORD = 64, KB = 1024 };

struct entry {
	char section[WORD], key[WORD], value[WORD];
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct fm_text trim(struct fm_text t)
{
	while (t.len && is_blank(t.p[0])) {
		t.p++;
		t.len--;
	}
	while (t.len && is_blank(t.p[t.len - 1]))
		t.len--;
	return t;
}

static void keep(char word[WORD], struct fm_text t)
{
	size_t n = t.len < WORD - 1 ? t.len : WORD - 1;

	memcpy(word, t.p, n);
	word[n] = '\0';
}

static int wrong(const struct entry *e, struct fm_err *err)
{
	return fm_err_set(err, FM_E_FORMAT,
			  "fsfs.conf: [%s] %s = %s makes no sense", e->section,
			  e->key, e->value);
}

static int take_size(const struct entry *e, uint64_t unit, bool is_power,
		     uint64_t *size, struct fm_err *err)
{
	struct fm_text text = {e->value, strlen(e->value)};
	uint64_t n;

	if (!fm_text_number(text, UINT32_MAX, &n) || n == 0 ||
	    (is_power && (n & (n - 1))))
		return wrong(e, err);
	*size = n * unit;
	return 0;
}

static int take_bool(const struct entry *e, bool *flag, struct fm_err *err)
{
	static const char *const yes[] = {"true", "yes", "on", "1"};
	static const char *const no[] = {"false", "no", "off", "0"};

	for (size_t i = 0; i < FM_ARRAY_SIZE(yes); i++) {
		if (strcasecmp(e->value, yes[i]) == 0 ||
		    strcasecmp(e->value, no[i]) == 0) {
			*flag = strcasecmp(e->value, yes[i]) == 0;
			return 0;
		}
	}
	return wrong(e, err);
}

static int take(const struct entry *e, struct fsfs_conf *conf,
		struct fm_err *err)
{
	if (strcasecmp(e->section, "packed-revprops") == 0) {
		if (strcasecmp(e->key, "revprop-pack-size") == 0)
			return take_size(e, KB, false, &conf->revprop_pack_size,
					 err);
		if (strcasecmp(e->key, "compress-packed-revprops") == 0)
			return take_bool(e, &conf->compresses_revprops, err);
	}
	if (strcasecmp(e->section, "io") == 0) {
		if (strcasecmp(e->key, "l2p-page-size") == 0)
			return take_size(e, 1, true, &conf->l2p_page_size, err);
		if (strcasecmp(e->key, "p2l-page-size") == 0)
			return take_size(e, KB, true, &conf->p2l_page_size,
					 err);
	}
	return 0;
}

// One line of the file into e; true when it completes a key and its value.
static bool take_line(struct fm_text line, struct entry *e)
{
	struct fm_text key, value = line;

	if (line.len == 0 || line.p[0] == '#' || is_blank(line.p[0]))
		return false; // a value that goes on is no number or flag
	if (line.p[0] == '[') {
		value.p++;
		value.len--;
		keep(e->section, trim(fm_text_cut(&value, ']')));
		return false;
	}
	key.p = memchr(line.p, '=', line.len);
	if (!key.p)
		key.p = memchr(line.p, ':', line.len);
	if (!key.p)
		return false;
	value.p = key.p + 1;
	value.len = line.len - (size_t)(value.p - line.p);
	key.len = (size_t)(key.p - line.p);
	key.p = line.p;
	keep(e->key, trim(key));
	keep(e->value, trim(value));
	return true;
}

int fsfs_conf_decode(const char *data, size_t len, struct fsfs_conf *conf,
		     struct fm_err *err)
{
	struct entry e = {.section = ""};
	struct fm_reader r;
	struct fm_line line;

	*conf = (struct fsfs_conf){.l2p_page_size = FSFS_L2P_PAGE,
				   .p2l_page_size = FSFS_P2L_PAGE};
	fm_reader_init(&r, data, len);
	while (fm_text_line(&r, &line))
		if (take_line(line.text, &e) && take(&e, conf, err) != 0)
			return err->code;
	// The default depends on what else was said.
	if (conf->revprop_pack_size == 0)
		conf->revprop_pack_size =
			(uint64_t)(conf->compresses_revprops ? 64 : 16) * KB;
	return 0;
}

int fsfs_conf_read(const struct fsfs *fs, struct fsfs_conf *conf,
		   struct fm_err *err)
{
	struct fm_buf b = FM_BUF_INIT;
	int rc = fsfs_read_small(fs->db, "fsfs.conf", CONF_MAX, &b, err);

	if (rc == 0 || (rc == FM_E_IO && err->sys == ENOENT))
		rc = fsfs_conf_decode(fm_buf_text(&b), b.len, conf, err);
	fm_buf_release(&b);
	return rc;
}
