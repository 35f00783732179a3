import type { View } from './views.ts';

/** A picture in a document. */
export interface DocumentPicture {
  /** Path below docs/, a PNG or a WebP. */
  file: string;
  scene: string;
  view: View;
}

/** In both languages, in the help. */
const HELP_SCENES = ['order', 'blocked', 'selection', 'rejected'];

export const DOCUMENT_PICTURES: DocumentPicture[] = [
  { file: 'pictures/order-light.webp', scene: 'order', view: { width: 1600, theme: 'light', language: 'en' } },
  ...HELP_SCENES.flatMap((scene) =>
    (['en', 'ar'] as const).map(
      (language): DocumentPicture => ({
        file: `portal/pictures/${scene}-${language}.webp`,
        scene,
        view: { width: 1280, theme: 'light', language },
      }),
    ),
  ),
];
