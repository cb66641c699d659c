// The worker: it waits for the compiled program, starts it, and the program takes the messages after that.
onmessage = async (e) => {
  try {
    const go = new Go();
    go.run(await WebAssembly.instantiate(e.data.module, go.importObject));
  } catch (err) {
    postMessage({broken: String(err)});
  }
};
