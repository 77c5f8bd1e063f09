# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Completion of the words of rpcrdma2(8). Commands are those that it tells of itself,
# connections those that there are.

_rpcrdma2_commands() { rpcrdma2 --help 2> /dev/null | awk '/^  [a-z]/ { print $1 }'; }

_rpcrdma2_ids() { rpcrdma2 show ${1+"$1"} 2> /dev/null | sed -n 's/^id: //p'; }

_rpcrdma2_peers() {
	rpcrdma2 show 2> /dev/null |
		sed -n 's/^peer_address: \[\{0,1\}\([^]]*\)\]\{0,1\}:[0-9]*$/\1/p' | sort -u
}

# _rpcrdma2_words COMMAND PREVIOUS N: what may follow as the Nth word of COMMAND
_rpcrdma2_words() {
	case $1,$2 in
	show,show) echo "client server peer paths module"; _rpcrdma2_ids ;;
	show,module) echo "client server" ;;
	show,peer) _rpcrdma2_peers ;;
	stat,*) echo --prometheus ;;
	change,change) _rpcrdma2_ids ;;
	change,own) echo "rbsiz brs" ;;
	change,brs) echo "none inline" ;;
	change,rbsiz) ;;
	change,[0-9]*) [ "$3" -gt 3 ] || echo "own rbsiz brs" ;;
	forget,forget) _rpcrdma2_ids client ;;
	reconnect,reconnect) _rpcrdma2_ids ;;
	setup,*) echo "replace beside off --server --dry-run" ;;
	report,report) echo --anonymize ;;
	policy,policy) echo "show get set delete load save" ;;
	policy,show | policy,get | policy,set | policy,delete) echo "client server" ;;
	esac
}

_rpcrdma2() {
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local command='' i

	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -* ]] || { command=${COMP_WORDS[i]}; break; }
	done
	# shellcheck disable=SC2207 # words
	if [ -z "$command" ]; then
		COMPREPLY=($(compgen -W "--json --help $(_rpcrdma2_commands)" -- "$word"))
	else
		COMPREPLY=($(compgen -W "$(_rpcrdma2_words "$command" "$previous" $((COMP_CWORD - i + 1)))" -- "$word"))
	fi
}

complete -o default -F _rpcrdma2 rpcrdma2
