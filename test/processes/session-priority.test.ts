import type { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { setSessionPriority } from '../../runtime/processes/session-priority.ts';

describe('processes: the priority of a session', () => {
  /** Fails with these codes, one after the other, and then no more. */
  function writer(...codes: string[]): { written: string[]; write: typeof writeFile } {
    const written: string[] = [];
    const write = async (file: unknown, data: unknown): Promise<void> => {
      written.push(`${String(file)} ${String(data)}`);
      const code = codes.shift();
      if (code !== undefined) throw Object.assign(new Error(code), { code });
    };
    return { written, write };
  }

  it('is set again after a change that came too soon', async () => {
    const { written, write } = writer('EAGAIN', 'EAGAIN');
    await setSessionPriority(12, 19, write);
    expect(written).to.deep.equal(Array.from({ length: 3 }, () => '/proc/12/autogroup 19'));
  });

  for (const code of ['ENOENT', 'ESRCH', 'EPERM']) {
    it(`is left unchanged on ${code}`, async () => {
      const { written, write } = writer(code);
      await setSessionPriority(12, 19, write);
      expect(written).to.have.length(1);
    });
  }

  it('throws other errors', async () => {
    const failure = await setSessionPriority(12, 19, writer('EIO').write).catch((error: Error) => error.message);
    expect(failure).to.equal('EIO');
  });
});
