// The worker: it waits for the compiled program, starts it, and the program takes the messages after that.
onmessage = async (e) => {
  try {
    const go = new Go();
    await go.run(await WebAssembly.instantiate(e.data.module, go.importObject));
    postMessage({broken: "the program ended"}); // which it does by a fault alone
  } catch (err) {
    postMessage({broken: String(err)});
  }
};
