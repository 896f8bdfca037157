import type { RestNode } from './rest-node.ts';

/** Makes the next operations wait between their start and `finish`. */
export function holdOperation(node: RestNode) {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  let finished = false;
  node.operations.answer = async () => {
    started.resolve();
    await release.promise;
    finished = true;
    done.resolve();
    return { result: 'ok' };
  };
  return { started: started.promise, finish: release.resolve, done: done.promise, finished: () => finished };
}
