/** A headless Chromium. */
import puppeteer, { type Browser } from 'puppeteer-core';

/** @param program path of Chromium @param args further arguments of it */
export function launchChromium(program: string, args: readonly string[] = []): Promise<Browser> {
  return puppeteer.launch({
    executablePath: program,
    args: [
      // Chromium has no sandbox for root, and opens pages of the test only.
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--autoplay-policy=no-user-gesture-required',
      // For machines without a network.
      '--allow-loopback-in-peer-connection',
      ...args,
    ],
  });
}
