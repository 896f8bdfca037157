/** Loaded by a server's thread in place of `runtime/memory`: posts whether there are calls to the channel `at-rest`. */
export function giveBackAtRest(works: () => boolean): void {
  const channel = new BroadcastChannel('at-rest');
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- between threads, not windows
  channel.postMessage({ works: works() });
  channel.close();
}
