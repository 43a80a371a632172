// SPDX-License-Identifier: GPL-2.0-or-later
// Replays inputs through a fuzz target without a fuzzer, as TAP.
//
//	replay/NAME FILE|DIRECTORY...
//
// A target that does not like an input ends the process; the name of the
// input was printed before, so the last line tells which one it was.

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned n_inputs;

static void replay(const char *path)
{
	FILE *in = fopen(path, "rb");
	long size;
	uint8_t *data;

	if (!in || fseek(in, 0, SEEK_END) != 0 || (size = ftell(in)) < 0 ||
	    fseek(in, 0, SEEK_SET) != 0) {
		perror(path);
		exit(1);
	}
	/* Exactly as large as the input, so that a sanitizer sees an access
	   behind it. */
	data = malloc(size ? (size_t)size : 1);
	if (!data || fread(data, 1, (size_t)size, in) != (size_t)size) {
		perror(path);
		exit(1);
	}
	(void)fclose(in);
	(void)printf("# %s\n", path);
	(void)fflush(stdout);
	(void)LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
	n_inputs++;
}

static int is_visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static void replay_directory(const char *path)
{
	struct dirent **names;
	int n = scandir(path, &names, is_visible, alphasort);

	for (int i = 0; i < n; i++) {
		char file[4096];

		(void)snprintf(file, sizeof(file), "%s/%s", path,
			       names[i]->d_name);
		replay(file);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

int main(int argc, char **argv)
{
	/* The empty input is always one of them. */
	(void)LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++) {
		struct stat st;

		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			replay_directory(argv[i]);
		else
			replay(argv[i]);
	}
	(void)printf("ok 1 - %u inputs\n1..1\n", n_inputs);
	return 0;
}
