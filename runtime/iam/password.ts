/** Password hashes as PHC strings (`$argon2id$v=19$m=19456,t=2,p=1$salt$hash`), made off the main thread. */
import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';

/** OWASP's minimum for argon2id: 19 MiB, two passes; about 30-40 ms on one core. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/**
 * Number of concurrent hashes. They share libuv's four threads with file reads: a burst of logins must leave threads
 * for the prompts of running calls.
 */
const MAX_RUNNING = 2;

let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= MAX_RUNNING) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return await work();
  } finally {
    // The slot goes to the next in line, or becomes free.
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

function derive(parameters: Argon2Parameters): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  argon2('argon2id', parameters, (error, hash) => {
    if (error === null) resolve(hash);
    else reject(error);
  });
  return promise;
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '');

/** Hashes a new password. */
export async function hashPassword(pwd: string): Promise<string> {
  const nonce = randomBytes(SALT_BYTES);
  const hash = await inTurn(() => derive({ message: pwd, nonce, tagLength: HASH_BYTES, ...COST }));
  return `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${base64(nonce)}$${base64(hash)}`;
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/**
 * True when `pwd` matches a stored hash. The time depends on the stored costs only.
 *
 * @throws Error for a stored text in another format
 */
export async function verifyPassword(pwd: string, stored: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt, hash] = PHC.exec(stored) ?? [];
  if (salt === undefined || hash === undefined) throw new Error('The stored password is not an argon2id PHC string.');
  const expected = Buffer.from(hash, 'base64');
  const parameters: Argon2Parameters = {
    message: pwd,
    nonce: Buffer.from(salt, 'base64'),
    tagLength: expected.length,
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
  };
  return timingSafeEqual(await inTurn(() => derive(parameters)), expected);
}

/** Checked for unknown users: the same work, and no password matches it. */
export const NO_PASSWORD = `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${base64(
  randomBytes(SALT_BYTES),
)}$${base64(randomBytes(HASH_BYTES))}`;
