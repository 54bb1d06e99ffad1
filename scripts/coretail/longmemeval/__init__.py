"""LongMemEval: long conversations with questions about them (Wu et al., 2024).

Reading the official files, a generated stand-in of the same format, retrieval over sessions, and
judging. Importing this package imports nothing heavy.
"""
