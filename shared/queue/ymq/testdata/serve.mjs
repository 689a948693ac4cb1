// Starts the emulator on a free port of the loopback and prints its address. It
// ends with its standard input, and so with the test that started it.
import { buildApp } from "fauxqs";

const app = buildApp({ logger: false });
console.log(await app.listen({ host: "127.0.0.1", port: 0 }));
process.stdin.on("end", () => process.exit(0)).resume();
