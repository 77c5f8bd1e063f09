# SPDX-License-Identifier: GPL-2.0
#
# Writes peer/basis.h's table: what each requirement or decision says, and
# where it is from. Input: requirements.txt, sections.txt, decisions.md.
function text(s) {
	gsub(/\\/, "\\\\", s)
	gsub(/"/, "\\\"", s)
	return "\"" s "\""
}
function row(id, level, section, says) {
	printf "\t{ %s, %s,\n\t  %s,\n\t  %s },\n", text(id), text(level),
		text(section), text(says)
}
function trim(s) {
	sub(/^ +/, "", s)
	sub(/ +$/, "", s)
	return s
}
BEGIN {
	FS = "\t"
	print "/* Made by basis.awk. */"
	print "#include \"basis.h\"\n\nconst struct basis basis[] = {"
}
FNR == 1 { file++ }
file < 3 && /^#/ { next }
file == 1 { section[$1] = $2 }
file == 2 { row($1, $2, section[$1], $5) }
file == 3 && /^\| D-[0-9]+ \|/ {
	split($0, f, "|")
	row(trim(f[2]), "decision", "Documentation/decisions.md",
		trim(f[3]) ": " trim(f[4]))
}
END { print "\t{ 0 },\n};" }
