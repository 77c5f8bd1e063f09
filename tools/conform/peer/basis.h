/* SPDX-License-Identifier: GPL-2.0 */
/* What the ids of cases stand for; the table is made by basis.awk. */
#ifndef _CONFORM_BASIS_H
#define _CONFORM_BASIS_H

/**
 * struct basis - a requirement, or a decision
 * @id: as in tests/requirements.txt, or D-n; NULL ends the table
 * @level: MUST, SHOULD and so on, in the words of that file
 * @section: of which drafts and RFCs
 * @says: what is required
 */
struct basis {
	const char	*id;
	const char	*level;
	const char	*section;
	const char	*says;
};

extern const struct basis basis[];

#endif /* _CONFORM_BASIS_H */
