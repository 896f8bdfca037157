import { execFileSync } from 'node:child_process';
import process from 'node:process';

/** False when a program is missing that may be missing. */
export function mayRun(program: string): boolean {
  if (process.env['RINGMASTER_REQUIRE_PEERS'] === '1') return true;
  if (process.env['RINGMASTER_WITHOUT_PEERS'] === '1') return false;
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
