// Chart.js as a module. The file is the library's own, for classic scripts: it leaves
// what it has in the window. Its version and licence are in chartjs/LICENSE.txt.

import '../chartjs/chart-4.6.1.umd.min.js';

export const { Chart } = window;
