# SPDX-License-Identifier: GPL-2.0
# The plot of tests/bench/run --floor: variables "data" and "svg" are file names.
set terminal svg size 900,420 font "sans-serif,12" background "white"
set output svg
set style data histogram
set style histogram rowstacked
set style fill solid 0.9 border -1
set boxwidth 0.7
set yrange [0:1.05]
set ylabel "time per operation, stock version 1 = 1"
set xtics rotate by -35 scale 0
set ytics 0.2
set grid ytics linecolor "#c0c0c0"
set key outside top center horizontal
plot data using 2:xtic(1) title "device" linecolor "#5b7aa8", \
     "" using 3 title "RPC and NFS" linecolor "#a8bf8f", \
     "" using 4 title "switching tasks" linecolor "#d9d2b0", \
     "" using 5 title "rpcrdma2" linecolor "#c8553d", \
     "" using 0:6 with points pointtype 9 pointsize 0.9 linecolor "black" title "aim"
