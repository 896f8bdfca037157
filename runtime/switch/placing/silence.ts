/** Notices a called address that answers nothing at all. */

/** How long an address may be silent, and how to tell a slow one from one that is gone. */
export interface Patience {
  /** Milliseconds without any answer but 100, which stays at the SIP server. */
  readonly ms: number;
  /** Asked after half of the time. @param ms that are left. Never rejects. */
  isThere(ms: number): Promise<boolean>;
}

/**
 * Watches one address. A slow one, which answers when it is asked, may take as long as it needs: it must not lose a call
 * that it has begun to set up.
 * @param gone called when it stays silent, unless `heard` aborts first
 */
export function watchSilence(patience: Patience, heard: AbortSignal, gone: () => void): void {
  const half = patience.ms / 2;
  const timer = setTimeout(() => {
    void patience.isThere(half).then((isThere) => {
      if (!isThere && !heard.aborted) gone();
    });
  }, half).unref();
  heard.addEventListener('abort', () => clearTimeout(timer), { once: true });
}
