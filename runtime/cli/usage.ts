import process from 'node:process';

/**
 * Runs a command; arguments that it does not take, or lacks, are told with its usage.
 * @returns the command's exit code, or 2
 */
export async function usageOf(usage: string, command: () => Promise<number>): Promise<number> {
  try {
    return await command();
  } catch (error) {
    // What parseArgs throws, and what commands throw for arguments of theirs.
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message.split('\n')[0]}\nusage: ${usage}\n`);
    return 2;
  }
}
