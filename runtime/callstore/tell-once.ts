/**
 * Tells an end, unless another node has told it as this one stood still. The answer must not reject.
 * @param elsewhere what `endedElsewhere` of a `CallIndex` or `FarewellIndex` answered
 */
export function tellOnce(elsewhere: boolean | Promise<boolean>, tell: () => void): void {
  if (elsewhere === false) tell();
  else if (elsewhere !== true) void elsewhere.then((isTold) => isTold || tell());
}
