"""Interventions: what-if (heads switched off, rows forced), the posterior, occlusion."""
