# SPDX-License-Identifier: GPL-2.0-or-later
#
# awk -v draw=table|svg -f open.awk open-cost.tsv: what open.sh measured, as a
# table with its notes, or as two drawings side by side.

BEGIN {
    FS = "\t"
    title["ext4"] = "ext4"
    title["ext2"] = "ext2, no dir_index"
    title["xfs"] = "xfs"
    title["btrfs"] = "btrfs"
    title["tmpfs"] = "tmpfs"
    title["ntfs"] = "NTFS (ntfs-3g)"
    title["exfat"] = "exFAT (exfat-fuse)"
    color["ext4"] = "#1b62a5"
    color["ext2"] = "#c0392b"
    color["xfs"] = "#23803c"
    color["btrfs"] = "#b36b00"
    color["tmpfs"] = "#555555"
    color["ntfs"] = "#7d3fa0"
    color["exfat"] = "#0b8a8f"
    head["warm"] = "open() + close(), warm cache"
    head["cold"] = "open() + close(), names and inodes not cached"
    head["make"] = "making a file"
}

{
    if (!($1 in seen)) { seen[$1] = 1; kinds[++n_kinds] = $1 }
    if (!(($3 + 0) in sized)) { sized[$3 + 0] = 1; sizes[++n_sizes] = $3 + 0 }
    us[$1, $2, $3 + 0, $4] = $5
    count[$1, $2, $3 + 0, $4] = $6
    note[$1, $2, $3 + 0, $4] = $7
}

function commas(n,   s) {
    s = sprintf("%d", n)
    while (s ~ /[0-9][0-9][0-9][0-9]/)
        s = gensub_first(s)
    return s
}

# 1234567 to 1234,567, and so on to the left.
function gensub_first(s,   at) {
    at = match(s, /[0-9][0-9][0-9](,|$)/)
    return substr(s, 1, at - 1) "," substr(s, at)
}

# The sign of a note; each is told once, below the table.
function sign_of(k, l, n, what,   text) {
    text = note[k, l, n, what]
    if (text == "") return ""
    if (text == "slow")
        text = "the time limit came after " commas(count[k, l, n, what]) \
            " files" (k == "ext2" ? "; for the other tables the directory " \
            "was filled with an index, which was then taken away" : "")
    else if (text == "unmade")
        text = "not measured: the files could not be made in time"
    else
        text = "the time limit came after " commas(count[k, l, n, what]) \
            " opens a pass"
    if (!(text in told)) {
        notes[++n_notes] = text
        told[text] = n_notes
    }
    return "[" told[text] "]"
}

function number(v) {
    return v < 10 ? sprintf("%.2f", v) : v < 100 ? sprintf("%.1f", v) : commas(v)
}

function table(what,   i, j, l, layout, k, v) {
    printf "%s: microseconds, mean\n%-20s %-8s", head[what], "", ""
    for (j = 1; j <= n_sizes; j++) printf " %12s", commas(sizes[j])
    printf "\n"
    for (i = 1; i <= n_kinds; i++)
        for (l = 0; l < 2; l++) {
            k = kinds[i]
            layout = l ? "sharded" : "flat"
            printf "%-20s %-8s", l ? "" : title[k], layout
            for (j = 1; j <= n_sizes; j++) {
                v = us[k, layout, sizes[j], what]
                printf " %12s", (v == "" || v == "-" ? "-" : number(v)) \
                    sign_of(k, layout, sizes[j], what)
            }
            printf "\n"
        }
    printf "\n"
}

function log10(v) { return log(v) / log(10) }
function x_of(n) { return left + (log10(n) - 3) / (x_top - 3) * wide }
function y_of(v) { return top + (y_top - log10(v)) / (y_top - y_low) * high }

function text_at(x, y, size, anchor, s) {
    printf "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" text-anchor=\"%s\">%s</text>\n", \
        x, y, size, anchor, s
}

function line(x1, y1, x2, y2, style) {
    printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", \
        x1, y1, x2, y2, style
}

function axes(what,   e, j) {
    text_at(left, top - 16, 16, "start", head[what])
    for (e = y_low; e <= y_top; e++) {
        line(left, y_of(10 ^ e), left + wide, y_of(10 ^ e), "stroke=\"#d0d0d0\"")
        text_at(left - 8, y_of(10 ^ e) + 5, 13, "end", e < 0 ? 10 ^ e : commas(10 ^ e))
    }
    for (j = 1; j <= n_sizes; j++) {
        line(x_of(sizes[j]), top, x_of(sizes[j]), top + high, "stroke=\"#d0d0d0\"")
        text_at(x_of(sizes[j]), top + high + 20, 13, "middle", commas(sizes[j]))
    }
    text_at(left + wide / 2, top + high + 42, 14, "middle", "files")
}

# Points, and a line between them where there are two.
function curve(k, layout, what,   j, v, points) {
    for (j = 1; j <= n_sizes; j++) {
        v = us[k, layout, sizes[j], what]
        if (v == "" || v == "-") continue
        points = points sprintf("%.1f,%.1f ", x_of(sizes[j]), y_of(v))
        printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", \
            x_of(sizes[j]), y_of(v), color[k]
    }
    printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", \
        points, color[k], layout == "flat" ? "" : " stroke-dasharray=\"7 5\""
}

function panel(what,   i) {
    axes(what)
    for (i = 1; i <= n_kinds; i++) {
        curve(kinds[i], "flat", what)
        curve(kinds[i], "sharded", what)
    }
}

function legend(   i, x, y) {
    y = top + high + 72
    for (i = 1; i <= n_kinds; i++) {
        x = 70 + (i - 1) % 4 * 195
        line(x, y, x + 30, y, "stroke-width=\"3\" stroke=\"" color[kinds[i]] "\"")
        text_at(x + 38, y + 5, 14, "start", title[kinds[i]])
        if (i % 4 == 0) y += 24
    }
    x = 70 + 4 * 195
    y = top + high + 72
    line(x, y, x + 40, y, "stroke-width=\"2\" stroke=\"#222\"")
    text_at(x + 48, y + 5, 14, "start", "one directory")
    y += 24
    line(x, y, x + 40, y, "stroke-width=\"2\" stroke=\"#222\" stroke-dasharray=\"7 5\"")
    text_at(x + 48, y + 5, 14, "start", "shards of 1000")
}

# Both panels have the same axes.
function svg(   key, v, i) {
    y_low = 0
    y_top = 1
    x_top = 4
    for (key in us) {
        v = us[key]
        if (key ~ /make$/ || v == "-" || v <= 0) continue
        while (log10(v) > y_top) y_top++
        while (log10(v) < y_low) y_low--
    }
    for (i = 1; i <= n_sizes; i++)
        if (log10(sizes[i]) > x_top) x_top = log10(sizes[i])
    top = 60
    high = 380
    wide = 430
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1060 560\" "
    printf "width=\"1060\" height=\"560\" font-family=\"sans-serif\" fill=\"#222\">\n"
    printf "<rect width=\"1060\" height=\"560\" fill=\"#fffffb\"/>\n"
    printf "<text transform=\"translate(20 %d) rotate(-90)\" font-size=\"14\" " \
        "text-anchor=\"middle\">microseconds, mean</text>\n", top + high / 2
    left = 80
    panel("warm")
    left = 590
    panel("cold")
    legend()
    print "</svg>"
}

END {
    if (draw == "svg") {
        svg()
    } else {
        table("warm")
        table("cold")
        table("make")
        for (i = 1; i <= n_notes; i++) print "[" i "] " notes[i]
    }
}
