# SPDX-License-Identifier: GPL-2.0-or-later
#
# fsmend, for GNU make. `make help` lists the targets.
#
# Sources are found by folder: lib/ and formats/ become one library, each
# cmd/<command>.c a program that is linked with the rest of cmd/. Everything
# built lies under build/<variant>/, nothing beside the sources, so that
#
#	make; make asan; make CC=clang VARIANT=clang
#
# live side by side. CC, CFLAGS, CPPFLAGS and LDFLAGS are the caller's; what
# the project itself needs is kept in variables of its own.

VARIANT ?= normal
BUILD ?= build/$(VARIANT)
JOBS ?= $(shell nproc 2>/dev/null || echo 1)

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR ?= $(PREFIX)/share/zsh/site-functions
FISHCOMPDIR ?= $(PREFIX)/share/fish/vendor_completions.d

CC ?= cc
CFLAGS ?= -O2 -g
PKG_CONFIG ?= pkg-config
CLANG ?= clang

# --- flags -------------------------------------------------------------------

LIBRARIES = libarchive zlib popt jansson sqlite3 libcrypto

SANITIZE_asan = -fsanitize=address -fno-omit-frame-pointer
SANITIZE_ubsan = -fsanitize=undefined -fno-sanitize-recover=all
SANITIZE_tsan = -fsanitize=thread
SANITIZE_fuzz = -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=all
SANITIZE = $(SANITIZE_$(VARIANT))

WARNINGS = -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Wformat=2 $(if $(WERROR),-Werror)

FM_CPPFLAGS = -I. -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64
FM_CFLAGS = -std=c11 -pthread $(WARNINGS) $(SANITIZE)
COMPILE = $(CC) $(FM_CPPFLAGS) $(CPPFLAGS) @$(BUILD)/cflags \
	$(FM_CFLAGS) $(CFLAGS) -MMD -MP
LINK = $(CC) -pthread $(SANITIZE) $(CFLAGS) $(LDFLAGS)

# V=1 shows the commands themselves.
ifndef V
Q := @
SAY = @printf '%-5s %s\n'
else
SAY = @:
endif

# --- sources -----------------------------------------------------------------

ALL_COMMANDS = fsdetect fsverify fsconvert reindex
COMMANDS := $(filter $(ALL_COMMANDS),$(patsubst cmd/%.c,%,$(wildcard cmd/*.c)))
LIB_SOURCES := $(wildcard lib/*.c formats/*.c formats/*/*.c)
CLI_SOURCES := $(filter-out $(COMMANDS:%=cmd/%.c),$(wildcard cmd/*.c))
UNIT_SOURCES := $(wildcard tests/unit/test_*.c)
FUZZ_SOURCES := $(wildcard tests/fuzz/fuzz_*.c)
HEADERS := $(wildcard lib/*.h formats/*.h formats/*/*.h cmd/*.h tests/*/*.h)
C_SOURCES := $(wildcard cmd/*.c) $(LIB_SOURCES) $(wildcard tests/*/*.c)

LIBRARY = $(BUILD)/libfsmend.a
PROGRAMS = $(COMMANDS:%=$(BUILD)/%)
LIB_OBJECTS = $(LIB_SOURCES:%.c=$(BUILD)/%.o)
CLI_OBJECTS = $(CLI_SOURCES:%.c=$(BUILD)/%.o)
UNIT_TESTS = $(UNIT_SOURCES:tests/unit/%.c=$(BUILD)/unit/%)
REPLAYS = $(FUZZ_SOURCES:tests/fuzz/fuzz_%.c=$(BUILD)/replay/%)
FUZZERS = $(FUZZ_SOURCES:tests/fuzz/fuzz_%.c=$(BUILD)/fuzz_%)
PAGES = $(foreach c,$(COMMANDS),$(wildcard man/$(c).1)) \
	$(wildcard man/*.5 man/*.7)

# --- building ----------------------------------------------------------------

.PHONY: all help check check-built asan ubsan tsan lint gen fuzz fuzzers \
	crash interop bench demo install uninstall dist clean
.DELETE_ON_ERROR:
.SECONDARY:
# Built-in rules would write beside the sources.
.SUFFIXES:

all: $(PROGRAMS)

help:
	@echo 'make                 the commands, in $(BUILD)/'
	@echo 'make demo            convert a repository and show it'
	@echo 'make check           all tests; T=unit/journal, T=cli/options: one'
	@echo 'make asan|ubsan|tsan all tests, under a sanitizer'
	@echo 'make lint            formatting, static analysis, agreement'
	@echo 'make gen             completions from the option tables'
	@echo 'make fuzz F=x TIME=60  one fuzz target, or all'
	@echo 'make crash           kill the commands at every system call'
	@echo 'make interop         the stock tools on what we wrote'
	@echo 'make bench           speed and memory, machine readable'
	@echo 'make install|uninstall|dist|clean'

# What pkg-config says, asked once. Compiler and linker read it as @file.
$(BUILD)/cflags $(BUILD)/libs &: Makefile
	@mkdir -p $(BUILD)
	@$(PKG_CONFIG) --exists --print-errors $(LIBRARIES) || { \
	echo 'A library is missing: tests/setup/need.sh build installs' \
	'what the build needs.' >&2; exit 1; }
	@$(PKG_CONFIG) --cflags $(LIBRARIES) >$(BUILD)/cflags
	@$(PKG_CONFIG) --libs $(LIBRARIES) >$(BUILD)/libs

$(BUILD)/%.o: %.c $(BUILD)/cflags
	@mkdir -p $(@D)
	$(SAY) $(CC) $<
	$(Q)$(COMPILE) -c -o $@ $<

$(LIBRARY): $(LIB_OBJECTS)
	$(SAY) $(AR) $@
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(PROGRAMS): $(BUILD)/%: $(BUILD)/cmd/%.o $(CLI_OBJECTS) $(LIBRARY)
	$(SAY) link $@
	$(Q)$(LINK) -o $@ $^ @$(BUILD)/libs

$(UNIT_TESTS): $(BUILD)/unit/%: $(BUILD)/tests/unit/%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(SAY) link $@
	$(Q)$(LINK) -o $@ $^ @$(BUILD)/libs -lcmocka

$(REPLAYS): $(BUILD)/replay/%: $(BUILD)/tests/fuzz/fuzz_%.o \
		$(BUILD)/tests/fuzz/driver.o $(LIBRARY)
	@mkdir -p $(@D)
	$(SAY) link $@
	$(Q)$(LINK) -o $@ $^ @$(BUILD)/libs

$(FUZZERS): $(BUILD)/%: $(BUILD)/tests/fuzz/%.o $(LIBRARY)
	$(SAY) link $@
	$(Q)$(LINK) -fsanitize=fuzzer -o $@ $^ @$(BUILD)/libs

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

# --- testing -----------------------------------------------------------------

# Packages first, then a second make, so that nothing is compiled too early.
demo:
	@tests/setup/need.sh build demo
	@$(MAKE) --no-print-directory all
	@BUILD=$(abspath $(BUILD)) tests/demo.sh

check:
	@tests/setup/need.sh build test
	@$(MAKE) --no-print-directory check-built

check-built: all $(UNIT_TESTS) $(REPLAYS)
	@BUILD=$(abspath $(BUILD)) JOBS=$(JOBS) tests/setup/tally.sh $(T)

asan ubsan tsan:
	@$(MAKE) --no-print-directory VARIANT=$@ check

crash: all
	@tests/setup/need.sh build test
	@BUILD=$(abspath $(BUILD)) tests/crash/crash.sh full

# A server that cannot be installed here is left out by the live test.
interop: all
	@tests/setup/need.sh build test
	@tests/setup/need.sh servers || echo 'interop: goes on without' >&2
	@INTEROP=full BUILD=$(abspath $(BUILD)) JOBS=$(JOBS) \
		tests/setup/tally.sh interop
	@BUILD=$(abspath $(BUILD)) JOBS=$(JOBS) tests/setup/tally.sh live/live_open
	@BUILD=$(abspath $(BUILD)) tests/live/live.sh
	@BUILD=$(abspath $(BUILD)) JOBS=$(JOBS) tests/interop/corpus.sh
	@[ "$$(id -u)" -ne 0 ] || tests/setup/need.sh fs
	@BUILD=$(abspath $(BUILD)) JOBS=$(JOBS) tests/fs/run.sh

bench: all
	@tests/setup/need.sh build test
	@BUILD=$(abspath $(BUILD)) tests/bench/convert.sh
	@BUILD=$(abspath $(BUILD)) tests/bench/packed.sh
	@[ "$$(id -u)" -ne 0 ] || tests/setup/need.sh fs
	@tests/bench/open.sh

# TIME in seconds, for each target. New inputs stay in build/fuzz/corpus.
TIME ?= 60
fuzz:
	@tests/setup/need.sh build fuzz
	@$(MAKE) --no-print-directory VARIANT=fuzz CC=$(CLANG) fuzzers
	@BUILD=build/fuzz TIME=$(TIME) tests/fuzz/run.sh $(F)

fuzzers: $(FUZZERS)

lint:
	@tests/setup/need.sh build lint
	@$(MAKE) --no-print-directory all
	@BUILD=$(abspath $(BUILD)) CLANG=$(CLANG) JOBS=$(JOBS) \
		tests/lint/all.sh $(T)

gen: all
	@for c in $(COMMANDS); do \
	completions/generate.sh $(BUILD)/$$c completions || exit 1; done

# --- installing --------------------------------------------------------------

install: all
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(BASHCOMPDIR) \
		$(DESTDIR)$(ZSHCOMPDIR) $(DESTDIR)$(FISHCOMPDIR)
	install -m 755 $(PROGRAMS) $(DESTDIR)$(BINDIR)
	for p in $(PAGES); do d=$(DESTDIR)$(MANDIR)/man$${p##*.}; \
	install -d $$d && install -m 644 $$p $$d || exit 1; done
	install -m 644 $(COMMANDS:%=completions/bash/%) \
		$(DESTDIR)$(BASHCOMPDIR)
	install -m 644 $(COMMANDS:%=completions/zsh/_%) \
		$(DESTDIR)$(ZSHCOMPDIR)
	install -m 644 $(COMMANDS:%=completions/fish/%.fish) \
		$(DESTDIR)$(FISHCOMPDIR)

uninstall:
	rm -f $(COMMANDS:%=$(DESTDIR)$(BINDIR)/%) \
		$(foreach p,$(PAGES),$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(p)))/$(notdir $(p))) \
		$(COMMANDS:%=$(DESTDIR)$(BASHCOMPDIR)/%) \
		$(COMMANDS:%=$(DESTDIR)$(ZSHCOMPDIR)/_%) \
		$(COMMANDS:%=$(DESTDIR)$(FISHCOMPDIR)/%.fish)

VERSION = $(shell sed -n 's/^\#define FM_VERSION "\(.*\)"/\1/p' lib/version.h)
dist:
	@mkdir -p build
	git archive --prefix=fsmend-$(VERSION)/ HEAD | gzip -9n \
		>build/fsmend-$(VERSION).tar.gz
	@echo build/fsmend-$(VERSION).tar.gz

clean:
	rm -rf build
