# SPDX-License-Identifier: GPL-2.0
#
# Writes peer/basis.h's table: what each requirement or decision says, and
# where it is from. Input: requirements.txt, decisions.md.
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
# A section of decisions.md: its heading and all of its text
function decision() {
	if (id)
		row(id, "decision", "Documentation/decisions.md", trim(open ": " says))
	id = ""
}
BEGIN {
	FS = "\t"
	print "/* Made by basis.awk. */"
	print "#include \"basis.h\"\n\nconst struct basis basis[] = {"
}
FNR == 1 { file++ }
file == 1 && /^#/ { next }
file == 1 { row($1, $2, $8, $5) }
file == 2 && /^#/ { decision() }
file == 2 && /^### D-[0-9]+: / {
	id = open = $0
	gsub(/^### |: .*/, "", id)
	sub(/^### D-[0-9]+: /, "", open)
	sub(/ \(wire\)$/, "", open)
	says = ""
	next
}
file == 2 && id && NF { says = says (says ? " " : "") $0 }
END {
	decision()
	print "\t{ 0 },\n};"
}
