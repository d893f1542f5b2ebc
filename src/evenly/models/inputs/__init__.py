"""Coding of configurations as numeric inputs of models, and derived inputs."""
