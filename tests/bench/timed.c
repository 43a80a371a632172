// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * timed FILE COMMAND...: runs COMMAND and writes to FILE the seconds it took,
 * the most memory it held at once and the seconds of processor it used, its own
 * and the kernel's: `SECONDS KIB SECONDS`.  Exits as COMMAND did.
 * (The fork is made before anything is allocated: a child's peak starts with
 * what it inherited.)
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(const struct timeval *tv)
{
	return (double)tv->tv_sec + (double)tv->tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct timespec a, b;
	struct rusage used;
	int status = 0;
	pid_t pid;
	FILE *f;

	if (argc < 3) {
		fputs("usage: timed FILE COMMAND...\n", stderr);
		return 16;
	}
	clock_gettime(CLOCK_MONOTONIC, &a);
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) < 0) {
		perror("timed");
		return 8;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	f = fopen(argv[1], "w");
	if (!f) {
		perror(argv[1]);
		return 8;
	}
	fprintf(f, "%.4f %ld %.4f\n",
		(double)(b.tv_sec - a.tv_sec) +
			(double)(b.tv_nsec - a.tv_nsec) / 1e9,
		used.ru_maxrss,
		seconds(&used.ru_utime) + seconds(&used.ru_stime));
	fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
