import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Reads the size of an image from Docker. */
export async function imageSize(image: string | undefined): Promise<{ imageMB: number | null; imageNote?: string }> {
  if (image === undefined) return { imageMB: null, imageNote: 'The image was not measured: name it with --image.' };
  try {
    const { stdout } = await promisify(execFile)('docker', ['image', 'inspect', '--format', '{{.Size}}', image]);
    return { imageMB: Number(stdout) / 1e6 };
  } catch {
    return {
      imageMB: null,
      imageNote: `The image was not measured: Docker does not answer, or has no image ${image}.`,
    };
  }
}
