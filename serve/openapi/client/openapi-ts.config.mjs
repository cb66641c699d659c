export default {
  input: 'openapi.json',
  output: { path: 'made', importFileExtension: '.js' },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
};
